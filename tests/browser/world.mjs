// One service and one browser for all journeys, and what most of them do.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openBrowser, openPage } from "./browser.mjs";
import { startService } from "./service.mjs";

export const SENTENCE = "Habari za asubuhi. Karibu sana nyumbani.";

export const world = {};

export async function openWorld() {
  world.service = await startService();
  const answer = await fetch(`${world.service.url}/v1/audio/speech`, {
    method: "POST",
    headers: { Authorization: `Bearer ${world.service.demo.api_key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ text: SENTENCE, voice_id: "asha" }),
  });
  assert.equal(answer.status, 200);
  world.recording = join(world.service.data, "habari.wav");
  await writeFile(world.recording, Buffer.from(await answer.arrayBuffer()));
  // The microphone of this browser plays the sentence.
  world.browser = await openBrowser(world.recording);
}

export async function closeWorld() {
  const { browser, service } = world;
  world.browser = world.service = undefined;
  await browser?.close();
  await service?.stop();
}

export const at = (path) => `${world.service.url}/console${path}`;

export const newPage = (options) => openPage(world.browser, options);

export async function signIn(page, email = world.service.demo.email, password = world.service.demo.password) {
  await page.goto(at("/sign-in"));
  await page.fill("[name=email]", email);
  await page.fill("[name=password]", password);
  await Promise.all([page.waitForURL(/\/console$/), page.click("main button.primary")]);
}

export async function signedIn(options) {
  const page = await newPage(options);
  await signIn(page);
  return page;
}

let strangers = 0;
// Somebody new, signed in, confirmed and welcomed.
export async function stranger(options) {
  const page = await newPage(options);
  page.email = `mgeni${++strangers}@example.com`;
  page.password = "siri kubwa sana";
  await signUp(page, page.email, page.password);
  await page.click("main a.button.primary");
  await page.click("main button.primary");
  await page.waitForURL(/\/console\?done=welcome/);
  return page;
}

export async function signUp(page, email, password, name = "Mgeni") {
  await page.goto(at("/sign-up"));
  await page.fill("[name=name]", name);
  await page.fill("[name=email]", email);
  await page.fill("[name=password]", password);
  await page.click("main button.primary");
}

export async function speak(page, text) {
  await page.fill("#text", text);
  await page.click("#go");
  await page.waitForFunction(() => !document.getElementById("go").disabled, null, { timeout: 60_000 });
}

// A click that loads a page: the same one again, or the next.
export async function clickAndLoad(page, selector) {
  await Promise.all([page.waitForEvent("load"), page.click(selector)]);
}

// The browser must not have complained of anything.
export async function finish(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

// The rooms of every member of a workspace, and the operator's.
export const ROOMS = [
  "",
  "/transcribe",
  "/voices",
  "/pronunciations",
  "/keys",
  "/usage",
  "/money",
  "/members",
  "/webhooks",
  "/account",
];
export const OPERATOR = "/operator";
