// Every method against the real server: SAUTI_URL and SAUTI_KEY.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { AuthenticationError, ConnectionFailed, InvalidRequest, Sauti, SautiError, UnsupportedMedia } from "../dist/index.js";

const require = createRequire(`${process.env.SAUTI_NODE_MODULES}/`);

const make = (key, more = {}) => new Sauti({ url: process.env.SAUTI_URL, key, ...more });
const client = make(process.env.SAUTI_KEY);
const gather = async (stream) => {
  const all = [];
  for await (const each of stream) all.push(each);
  return all;
};

let spoken;
before(async () => {
  spoken = await client.speak("Habari za asubuhi. Karibu sana.", "asha");
});

test("speech is a WAV file with its price", () => {
  assert.equal(spoken.contentType, "audio/wav");
  assert.equal(Buffer.from(spoken.audio.subarray(0, 4)).toString(), "RIFF");
  assert.equal(spoken.charge.units, 31);
  assert.ok(spoken.charge.costMicro > 0 && spoken.charge.requestId.startsWith("req_"));
});

test("the same idempotency key is charged once", async () => {
  const ask = () => client.speak("Asante kwa kupiga simu.", "juma", { idempotencyKey: "ts-client-test-1" });
  const first = await ask();
  const before = (await client.balance()).availableMicro;
  const again = await ask();
  assert.deepEqual(again.audio, first.audio);
  assert.ok(again.charge.replayed);
  assert.equal((await client.balance()).availableMicro, before);
});

test("words come with their times", async () => {
  const timed = await client.speakTimed("Bei ni Ksh 200.", "zuri");
  assert.deepEqual(timed.words.slice(0, 2).map((word) => word.word), ["Bei", "ni"]);
  assert.match(timed.normalisedText, /mbili/);
  assert.ok(timed.words.at(-1).end <= timed.seconds + 0.1);
});

test("marks come with their times", async () => {
  const text = '<speak>Bei ni <mark name="bei"/>Ksh 200.<mark name="mwisho"/></speak>';
  const timed = await client.speakTimed(text, "zuri", { pitch: -2, volume: 3 });
  assert.deepEqual(timed.marks, [{ name: "bei", time: timed.words[2].start }, { name: "mwisho", time: timed.seconds }]);
  const pieces = await gather(client.speakEvents(text, "zuri", { pitch: -2, volume: 3 }));
  assert.deepEqual(pieces.flatMap((piece) => piece.marks), timed.marks);
});

test("sound streams in pieces", async () => {
  const pieces = await gather(client.speakStream(`${"Karibu katika huduma kwa wateja, ".repeat(4)}asante.`, "baraka"));
  assert.ok(pieces.length > 1);
  assert.ok(pieces.reduce((sum, piece) => sum + piece.length, 0) > 24_000 * 2 * 4);
});

test("events carry the words", async () => {
  const pieces = await gather(client.speakEvents("Habari za jioni.", "asha"));
  assert.deepEqual(pieces.flatMap((piece) => piece.words).map((word) => word.word.toLowerCase()), ["habari", "za", "jioni"]);
});

test("a recording is transcribed", async () => {
  const heard = await client.transcribe(spoken.audio, { words: true });
  assert.match(heard.text, /asubuhi/i);
  assert.ok(heard.words.some((word) => word.word === "karibu"));
  assert.ok(heard.segments[0].end > heard.segments[0].start);
  assert.equal((await client.transcribe(new Blob([spoken.audio]))).text, heard.text);
});

test("numbers come as digits and only choices are heard, on request", async () => {
  const amount = await client.speak("Lipa shilingi elfu mbili mia tano.", "asha");
  assert.match((await client.transcribe(amount.audio, { numerals: "digits" })).text, /2,500/);
  const choice = await client.speak("Mizigo.", "juma");
  const heard = await client.transcribe(choice.audio, { choices: ["salio", "mizigo", "mhudumu"] });
  assert.match(heard.text, /^mizigo\.?$/i);
  assert.equal(heard.answer, "mizigo");
});

test("an expected answer is one plain value, at once, in a stream and live", async () => {
  const amount = await client.speak("Shilingi elfu mbili mia tano.", "asha");
  const heard = await client.transcribe(amount.audio, { expect: "amount" });
  assert.deepEqual([heard.answer, heard.currency, heard.notUnderstood], [2500, "shilingi", false]);
  assert.ok(heard.confidence > 0.5);
  const last = (await gather(client.transcribeStream(amount.audio, { expect: "amount" }))).at(-1);
  assert.deepEqual([last.answer, last.currency, last.notUnderstood], [2500, "shilingi", false]);
  assert.ok(last.seconds > 0 && last.costMicro > 0 && last.balanceMicro > 0);
  const live = await client.live({ rateHz: 24_000, expect: "amount" });
  live.send(amount.audio.subarray(44));
  live.finish();
  assert.equal((await gather(live)).at(-1).answer, 2500);
  assert.ok(!("answer" in (await client.transcribe(amount.audio))));
});

test("the language that is told is the one that is heard", async () => {
  const amount = await client.speak("Shilingi elfu mbili mia tano.", "asha");
  assert.equal((await client.transcribe(amount.audio, { expect: "amount", language: "sw" })).answer, 2500);
  assert.ok((await client.transcribe(amount.audio, { expect: "amount", language: "en" })).notUnderstood);
  const live = await client.live({ rateHz: 24_000, expect: "amount", language: "sw", prompt: "malipo", alternatives: 2 });
  live.send(amount.audio.subarray(44));
  live.finish();
  assert.equal((await gather(live)).at(-1).answer, 2500);
});

test("a choice with a comma is one choice live, and a long piece of sound is sent in parts", async () => {
  const { audio } = await client.speak("Shilingi elfu moja.", "asha");
  const live = await client.live({ rateHz: 24_000, choices: ["KSh 1,000", "KSh 500"] });
  live.send(Buffer.concat([audio.subarray(44), Buffer.alloc(300_000)]));
  live.finish();
  assert.equal((await gather(live)).at(-1).answer, "KSh 1,000");
});

test("subtitles", async () => {
  assert.match(await client.subtitles(spoken.audio), /^1\n00:00:00,\d+ --> /);
  assert.match(await client.subtitles(spoken.audio, "vtt"), /^WEBVTT/);
});

test("a transcript streams", async () => {
  const pieces = await gather(client.transcribeStream(spoken.audio));
  assert.ok(pieces.length > 1 && pieces.at(-1).isLast);
  assert.match(pieces.at(-1).text, /karibu/i);
});

test("live speech is heard while it runs", async () => {
  const samples = spoken.audio.subarray(44);
  const live = await client.live({ rateHz: 24_000 });
  for (let start = 0; start < samples.length; start += 9600) live.send(samples.subarray(start, start + 9600));
  live.finish();
  const heard = await gather(live);
  assert.ok(heard.some((event) => event.type === "partial"));
  assert.ok(heard.some((event) => event.type === "final" && event.segment.words.length > 0));
  assert.equal(heard.at(-1).type, "done");
  assert.match(heard.at(-1).text, /asubuhi/i);
});

test("live works with the WebSocket of the package ws, and says what is missing where there is none", async () => {
  const { WebSocket } = require("ws");
  const own = globalThis.WebSocket;
  delete globalThis.WebSocket;
  try {
    await assert.rejects(make(process.env.SAUTI_KEY).live(), (error) => error instanceof SautiError && /npm install ws/.test(error.message));
    await assert.rejects(make("sauti_live_wrong", { WebSocket }).live(), AuthenticationError);
    const live = await make(process.env.SAUTI_KEY, { WebSocket }).live({ rateHz: 24_000 });
    live.send(spoken.audio.subarray(44));
    live.finish();
    const done = (await gather(live)).at(-1);
    assert.match(done.text, /asubuhi/i);
    assert.ok(done.costMicro > 0);
  } finally {
    globalThis.WebSocket = own;
  }
});

test("the package can be added to a project as its README says", () => {
  const [package_, project] = [join(dirname(fileURLToPath(import.meta.url)), ".."), mkdtempSync(join(tmpdir(), "sauti-project-"))];
  const npm = process.env.SAUTI_NPM;
  try {
    const run = (...command) => execFileSync(command[0], command.slice(1), { cwd: project, encoding: "utf8" });
    writeFileSync(join(project, "package.json"), '{"private": true, "type": "module"}');
    const packed = run(npm, "pack", "--silent", "--pack-destination", project, package_).trim();
    run(npm, "install", "--silent", "--offline", "--no-audit", "--no-fund", `./${packed}`);
    assert.equal(run(process.execPath, "-e", 'import { Sauti } from "sauti-client"; console.log(Sauti.name)', "--input-type=module").trim(), "Sauti");
  } finally {
    rmSync(project, { recursive: true });
  }
});

test("a live connection that nobody answers is a failed connection", async () => {
  const { WebSocket } = require("ws");
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const url = `http://127.0.0.1:${silent.address().port}`;
  await assert.rejects(make("key", { url, WebSocket, timeoutSeconds: 0.2 }).live(), ConnectionFailed);
  silent.close();
});

test("a live connection with a wrong key is refused with the reason", async () => {
  await assert.rejects(make("sauti_live_wrong").live(), AuthenticationError);
});

test("voices, limits, quotes, balance and usage", async () => {
  assert.ok((await client.voices()).some((voice) => voice.voiceId === "asha"));
  assert.equal((await client.limits()).textCharactersMax, 5000);
  assert.equal((await client.quote({ text: "Habari." })).units, 7);
  assert.equal((await client.quote({ audioSeconds: 60 })).operation, "transcription");
  assert.ok((await client.usage()).some((day) => day.operation === "speech" && day.amountMicro > 0));
});

test("refusals are typed", async () => {
  await assert.rejects(client.speak("Habari.", "nobody"), (error) => {
    assert.ok(error instanceof InvalidRequest);
    assert.equal(error.code, "validation_failed");
    assert.equal(error.errors[0].field, "voice_id");
    return error.requestId.startsWith("req_");
  });
  await assert.rejects(client.transcribe(Buffer.from("Dear reader, this is no sound.")), UnsupportedMedia);
  await assert.rejects(make("sauti_live_wrong").balance(), AuthenticationError);
});

test("refusals are told in Swahili on request", async () => {
  const detail = (who) => who.speak("  ", "asha").then(() => assert.fail("spoken"), (error) => error.detail);
  assert.notEqual(await detail(client), await detail(make(process.env.SAUTI_KEY, { language: "sw" })));
});
