// What a project under strict TypeScript writes; types.test.mjs compiles it.

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";

import { Sauti, type Recording } from "../dist/index.js";

const sauti = new Sauti({ key: "sauti_live_..." });
const live = await sauti.live({ rateHz: 24_000 });

const speech = await sauti.speak("Habari.", "asha");
const timed = await sauti.speakTimed("Habari.", "asha");
const narrow: Uint8Array<ArrayBuffer>[] = [speech.audio, timed.audio];
for (const sound of [...narrow, await readFile("habari.wav"), new Uint8Array(new SharedArrayBuffer(2))]) {
  await sauti.transcribe(sound);
  await sauti.subtitles(sound);
  live.send(sound);
}
for await (const piece of sauti.speakStream("Habari.", "asha")) {
  narrow.push(piece);
  live.send(piece);
}
for await (const piece of sauti.speakEvents("Habari.", "asha")) {
  narrow.push(piece.audio);
  live.send(piece.audio);
}
for await (const chunk of createReadStream("habari.pcm")) live.send(chunk as Buffer);
for await (const piece of sauti.transcribeStream(new Blob(narrow))) console.log(piece.text);

// @ts-expect-error: the name of a file is no recording
const named: Recording = "habari.wav";
console.log(named);
