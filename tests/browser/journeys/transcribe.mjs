// Transcribe a recording.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { at, finish, signedIn, stranger, world } from "../world.mjs";

async function transcribePage(options) {
  const page = await signedIn(options);
  await page.goto(at("/transcribe"));
  return page;
}

const costIsShown = (page) =>
  page.waitForFunction(() => /KES/.test(document.getElementById("cost").textContent), null, { timeout: 120_000 });

test("a file is transcribed into words that can be heard again, copied and saved", async () => {
  const page = await transcribePage();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.setInputFiles("#file", world.recording);
  await costIsShown(page);
  assert.match(await page.textContent("#transcript"), /asubuhi/i);
  await page.click("#transcript button:nth-of-type(3)");
  await page.waitForFunction(() => document.getElementById("audio").currentTime > 0.1);
  await page.waitForSelector("#transcript button.lit");
  await page.click("#copy");
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /asubuhi/i);
  for (const [kind, expected] of [
    ["txt", /asubuhi/i],
    ["srt", /00:00:0\d,\d{3} --> /],
    ["vtt", /^WEBVTT/],
    ["json", /"words"/],
  ]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-save=${kind}]`)]);
    assert.match(await readFile(await download.path(), "utf8"), expected, kind);
  }
  await finish(page);
});

test("a file can be dropped", async () => {
  const page = await transcribePage();
  const bytes = (await readFile(world.recording)).toString("base64");
  await page.evaluate((text) => {
    const file = new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], "rekodi.wav", { type: "audio/wav" });
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(file);
    document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, bytes);
  await costIsShown(page);
  assert.match(await page.textContent("#transcript"), /asubuhi/i);
  await finish(page);
});

test("the speakers of a file are told apart", async () => {
  const page = await transcribePage();
  await page.selectOption("#speakers", "diarize");
  await page.setInputFiles("#file", world.recording);
  await costIsShown(page);
  assert.match(await page.textContent("#transcript .stamp"), /^\d+:\d\d A$/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("[data-save=txt]")]);
  assert.match(await readFile(await download.path(), "utf8"), /^A: .*asubuhi/i);
  await finish(page);
});

test("words that were hardly heard are marked", async () => {
  const page = await transcribePage();
  const words = [
    { word: "habari", start: 0, end: 0.4, confidence: 0.99 },
    { word: "zako", start: 0.4, end: 0.9, confidence: 0.31 },
  ];
  const events = [
    { type: "transcript.text.delta", delta: "Habari zako.", start: 0, end: 0.9, done_seconds: 1, words },
    {
      type: "transcript.text.done",
      text: "Habari zako.",
      usage: { type: "duration", seconds: 1, cost_micro: 25000, balance_micro: 5_000_000 },
    },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  await page.route("**/v1/audio/transcriptions", (route) =>
    route.fulfill({ contentType: "text/event-stream", headers: { "Sauti-Units": "1" }, body }),
  );
  await page.setInputFiles("#file", world.recording);
  await costIsShown(page);
  assert.equal(await page.textContent("#transcript .unsure"), "zako.");
  assert.match(await page.getAttribute("#transcript .unsure", "title"), /31 %/);
  await finish(page);
});

// The sentence many times over with pauses between: long enough to be heard in several pieces.
async function longRecording(times) {
  const wav = await readFile(world.recording);
  const sound = wav.subarray(44);
  const pause = Buffer.alloc(24_000 * 2);
  const body = Buffer.concat(Array.from({ length: times }, () => [sound, pause]).flat());
  const header = Buffer.from(wav.subarray(0, 44));
  header.writeUInt32LE(36 + body.length, 4);
  header.writeUInt32LE(body.length, 40);
  const path = join(world.service.data, "ndefu.wav");
  await writeFile(path, Buffer.concat([header, body]));
  return path;
}

test("a long file shows how far it has been heard, and its first words before its last", async () => {
  const page = await transcribePage();
  await page.evaluate(() => {
    globalThis.seen = [];
    const status = document.getElementById("status");
    new MutationObserver(() =>
      seen.push([
        status.textContent,
        document.getElementById("progress").value,
        document.querySelectorAll("#transcript p").length,
      ]),
    ).observe(status, { childList: true, characterData: true, subtree: true });
  });
  await page.setInputFiles("#file", await longRecording(12));
  await costIsShown(page);
  const heard = (await page.evaluate(() => seen)).filter(([text]) => /^Heard \d:\d\d of \d:\d\d$/.test(text));
  assert.ok(heard.length >= 2, JSON.stringify(heard));
  assert.ok(heard[0][1] > 0 && heard[0][1] < 100 && heard.at(-1)[1] > heard[0][1], JSON.stringify(heard));
  assert.ok((await page.locator("#transcript p").count()) >= 2);
  await finish(page);
});

test("a transcription can be cancelled and costs nothing", async () => {
  const page = await transcribePage();
  const before = await page.textContent("#balance");
  await page.route("**/v1/audio/transcriptions", () => {});
  await page.setInputFiles("#file", world.recording);
  await page.click("#cancel");
  await page.waitForSelector("#progress-row", { state: "hidden" });
  assert.ok(await page.isEnabled("#record"));
  await page.reload();
  assert.equal(await page.textContent("#balance"), before);
  await finish(page);
});

test("something that is no recording, and an empty balance, are told in plain words", async () => {
  const page = await stranger();
  await page.goto(at("/transcribe"));
  await page.setInputFiles("#file", { name: "x.wav", mimeType: "audio/wav", buffer: Buffer.from("this is no sound at all") });
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /no recording that can be read/);
  await page.goto(at("/workspace/new"));
  await page.fill("[name=name]", "Tupu");
  await page.click("main button.primary");
  await page.goto(at("/transcribe"));
  await page.setInputFiles("#file", world.recording);
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /The balance is not enough/);
  await finish(page);
});

test("the microphone is heard live: words appear while somebody speaks", async () => {
  const page = await transcribePage();
  await page.click("#record");
  await page.waitForFunction(() => document.getElementById("meter").value > 0.02);
  // Before anything is stopped.
  await page.waitForFunction(() => /asubuhi|karibu|nyumbani/i.test(document.getElementById("transcript").textContent));
  assert.equal(await page.textContent("#record"), "Stop");
  assert.match(await page.textContent("#timer"), /0:\d\d/);
  await page.waitForTimeout(1_500);
  await page.click("#record");
  await costIsShown(page);
  assert.match(await page.textContent("#transcript"), /asubuhi|karibu|nyumbani/i);
  await page.click("#transcript button");
  await page.waitForFunction(() => document.getElementById("audio").currentTime > 0);
  await finish(page);
});

test("the microphone is heard as a recording, in the one kind that the browser offers", async () => {
  const page = await transcribePage();
  await page.uncheck("#live");
  await page.evaluate(() => {
    MediaRecorder.isTypeSupported = (kind) => kind === "audio/webm;codecs=opus";
    const append = FormData.prototype.append;
    FormData.prototype.append = function (name, value, ...rest) {
      if (name === "file") globalThis.sentKind = value.type;
      return append.call(this, name, value, ...rest);
    };
  });
  await page.click("#record");
  await page.waitForFunction(() => document.getElementById("meter").value > 0.02);
  await page.waitForTimeout(4_000);
  await page.click("#record");
  await costIsShown(page);
  assert.match(await page.evaluate(() => globalThis.sentKind), /^audio\/webm/);
  assert.match(await page.textContent("#transcript"), /habari|asubuhi|karibu|nyumbani/i);
  await finish(page);
});

test("a microphone that is not allowed is told in plain words", async () => {
  const page = await transcribePage();
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
  });
  await page.click("#record");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /Allow it in the browser's settings, or choose a file/);
  await finish(page);
});
