// The official `openai` Node client, unchanged, against a running server: the newest of each major version.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { before, describe, test } from "node:test";

const require = createRequire(`${process.env.SAUTI_NODE_MODULES}/`);

for (const name of ["openai", "openai-6", "openai-5", "openai-4"]) {
  describe(name, () => check(require(name)));
}

function check({ OpenAI, toFile }) {
  const makeClient = (apiKey) =>
    new OpenAI({ baseURL: `${process.env.SAUTI_URL}/v1`, apiKey, maxRetries: 0, timeout: 120_000 });
  const client = makeClient(process.env.SAUTI_KEY);
  const bytes = async (answer) => Buffer.from(await answer.arrayBuffer());

  let spoken;
  before(async () => {
    const answer = await client.audio.speech.create({
      model: "sauti", voice: "asha", input: "Karibu sana. Habari za asubuhi?", response_format: "wav",
    });
    spoken = await bytes(answer);
  });

  test("speech is a WAV file", () => {
    assert.equal(spoken.subarray(0, 4).toString(), "RIFF");
    assert.ok(spoken.length > 40_000);
  });

  test("the formats of the client work", async () => {
    for (const [response_format, magic] of [["opus", "OggS"], ["flac", "fLaC"]]) {
      const answer = await client.audio.speech.create({ model: "tts-1", voice: "juma", input: "Habari.", response_format });
      assert.equal((await bytes(answer)).subarray(0, 4).toString(), magic);
    }
  });

  test("what was spoken is understood", async () => {
    const sentences = [["Habari za asubuhi.", /asubuhi/i], ["Mtoto anasoma kitabu shuleni.", /kitabu/i]];
    for (const [input, heard] of sentences) {
      const answer = await client.audio.speech.create({ model: "sauti", voice: "zuri", input, response_format: "wav" });
      const file = await toFile(await bytes(answer), "spoken.wav");
      const transcript = await client.audio.transcriptions.create({ model: "whisper-1", file });
      assert.match(transcript.text, heard);
    }
  });

  test("a transcript streams", async () => {
    const file = await toFile(spoken, "karibu.wav");
    const stream = await client.audio.transcriptions.create({ model: "whisper-1", file, stream: true });
    let last;
    for await (const event of stream) last = event;
    assert.equal(last.type, "transcript.text.done");
    assert.match(last.text, /asubuhi/i);
  });

  test("an example of its documentation is answered with an MP3 file", async () => {
    const answer = await client.audio.speech.create({ model: "gpt-4o-mini-tts", voice: "coral", input: "Habari za asubuhi." });
    assert.equal(answer.headers.get("content-type"), "audio/mpeg");
    assert.ok(["asha", "zuri", "juma", "baraka"].includes(answer.headers.get("sauti-voice")));
  });

  test("what a transcript can be asked for is understood", async () => {
    const file = await toFile(spoken, "karibu.wav");
    const more = { language: "sw", prompt: "Salamu kwa wageni.", temperature: 0, chunking_strategy: "auto", include: ["logprobs"] };
    const transcript = await client.audio.transcriptions.create({ model: "gpt-4o-transcribe", file, ...more });
    assert.match(transcript.text, /asubuhi/i);
    assert.ok(transcript.logprobs.some(({ token, logprob }) => /habari/i.test(token) && logprob <= 0));
  });

  test("models are listed", async () => {
    const models = await client.models.list();
    assert.ok(models.data.length >= 1);
  });

  test("a wrong key is an authentication error", async () => {
    const request = makeClient("sauti_live_wrong_key").audio.speech.create({ model: "sauti", voice: "asha", input: "Habari." });
    await assert.rejects(request, OpenAI.AuthenticationError);
  });

  test("an unknown voice is answered with the voices there are", async () => {
    const request = client.audio.speech.create({ model: "sauti", voice: "nobody", input: "Habari." });
    await assert.rejects(request, (error) => error instanceof OpenAI.APIError && /asha/.test(error.message));
  });

  test("a file that is no recording is refused", async () => {
    const file = await toFile(Buffer.from("Dear reader, this is no sound."), "letter.wav");
    const request = client.audio.transcriptions.create({ model: "whisper-1", file });
    await assert.rejects(request, (error) => [415, 422].includes(error.status));
  });
}
