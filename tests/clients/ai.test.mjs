// The AI SDK (`ai` with `@ai-sdk/openai`) against a running server, with its defaults.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { before, test } from "node:test";

const require = createRequire(`${process.env.SAUTI_NODE_MODULES}/`);
const { generateSpeech, transcribe } = await import(require.resolve("ai"));
const { createOpenAI } = await import(require.resolve("@ai-sdk/openai"));

const provider = (apiKey) => createOpenAI({ baseURL: `${process.env.SAUTI_URL}/v1`, apiKey });
const openai = provider(process.env.SAUTI_KEY);

let spoken;
before(async () => {
  spoken = (await generateSpeech({ model: openai.speech("tts-1"), text: "Karibu sana. Habari za asubuhi?" })).audio;
});

test("speech with the default voice is an MP3 file", () => {
  assert.equal(spoken.mediaType, "audio/mpeg");
  assert.ok(spoken.uint8Array.length > 5_000);
});

test("what was spoken is understood, by whichever model is named", async () => {
  for (const model of ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"]) {
    const heard = await transcribe({ model: openai.transcription(model), audio: spoken.uint8Array });
    assert.match(heard.text, /asubuhi/i);
  }
});

test("segments and words come with their times", async () => {
  const providerOptions = { openai: { timestampGranularities: ["word"], language: "sw", prompt: "Salamu.", temperature: 0 } };
  const heard = await transcribe({ model: openai.transcription("whisper-1"), audio: spoken.uint8Array, providerOptions });
  assert.ok(heard.segments.some((segment) => /asubuhi/i.test(segment.text) && segment.endSecond > segment.startSecond));
  assert.ok(heard.durationInSeconds > 1);
});

test("the options of newer models are understood", async () => {
  const chunkingStrategy = { type: "server_vad", silenceDurationMs: 300 };
  const providerOptions = { openai: { include: ["logprobs"], languages: ["sw"], keywords: ["Wanjiku"], chunkingStrategy } };
  const heard = await transcribe({ model: openai.transcription("gpt-4o-transcribe"), audio: spoken.uint8Array, providerOptions });
  assert.match(heard.text, /asubuhi/i);
});

test("a wrong key is told", async () => {
  const request = generateSpeech({ model: provider("sauti_live_wrong").speech("tts-1"), text: "Habari.", maxRetries: 0 });
  await assert.rejects(request, (error) => error.statusCode === 401);
});
