// Keys, pronunciations, webhooks, usage and money.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { SENTENCE, at, clickAndLoad, finish, signedIn, speak, stranger, world } from "../world.mjs";

const withKey = (path, key, options = {}) =>
  fetch(`${world.service.url}${path}`, { ...options, headers: { Authorization: `Bearer ${key}`, ...options.headers } });

test("a key is shown once, keeps to its permissions and its cap, and stops when it is revoked", async () => {
  const page = await signedIn();
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto(at("/keys"));
  await page.fill("form[data-api] [name=name]", "IVR");
  await page.uncheck("input[value=transcription]");
  await page.fill("[name=expires_in_days]", "30");
  await page.fill("[name=spend_cap_micro]", "0.05");
  await page.click("form[data-api] button.primary");
  await page.waitForSelector("#secret:not([hidden])");
  const key = await page.textContent("#secret-text");
  await clickAndLoad(page, "[data-reload]");
  await page.waitForSelector("article:has-text('IVR')");
  assert.ok(!(await page.content()).includes(key));
  const card = await page.textContent("article:has-text('IVR')");
  assert.match(card, /KES 0\.00 \/ KES 0\.05/);
  assert.match(card, /20\d\d/, "the day it expires");
  assert.equal((await withKey("/v1/voices", key)).status, 200);
  const form = new FormData();
  form.append("file", new Blob([await readFile(world.recording)]), "a.wav");
  assert.equal((await withKey("/v1/audio/transcriptions", key, { method: "POST", body: form })).status, 403);
  const body = JSON.stringify({ text: SENTENCE, voice_id: "asha" });
  const first = await withKey("/v1/audio/speech", key, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  assert.equal(first.status, 200);
  const long = JSON.stringify({ text: `${SENTENCE} ${SENTENCE}`, voice_id: "asha" });
  assert.equal(
    (await withKey("/v1/audio/speech", key, { method: "POST", headers: { "Content-Type": "application/json" }, body: long }))
      .status,
    402,
  );
  await clickAndLoad(page, "article:has-text('IVR') .danger");
  assert.equal((await withKey("/v1/voices", key)).status, 401);
  await page.waitForSelector("article:has-text('IVR') :text('revoked')");
  await finish(page);
});

test("a pronunciation is added, heard and taken back", async () => {
  const page = await stranger();
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto(at("/pronunciations"));
  await page.waitForSelector("text=No pronunciations yet");
  await page.fill("[name=word]", "WhatsApp");
  await page.fill("[name=said]", "★★");
  await page.click("form[data-api] button.primary");
  await page.waitForSelector("form [role=alert]:has-text('Spell the sound as Swahili would')");
  await page.fill("[name=said]", "wotsap");
  await clickAndLoad(page, "form[data-api] button.primary");
  await page.waitForSelector("article:has-text('whatsapp')");
  await page.click("article a");
  await page.waitForFunction(() => document.querySelector("#text")?.value === "whatsapp");
  await speak(page, "Nitumie kwa WhatsApp leo.");
  assert.ok(await page.isHidden("#error"));
  await page.goto(at("/pronunciations"));
  await clickAndLoad(page, "article .danger");
  await page.waitForSelector("text=No pronunciations yet");
  await finish(page);
});

test("a webhook is added, its secret shown once, and removed", async () => {
  const page = await signedIn();
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto(at("/webhooks"));
  await page.fill("[name=url]", "ftp://example.com/sauti");
  await page.click("form[data-api] button.primary");
  await page.waitForSelector("form [role=alert]:has-text('Give a full address')");
  await page.fill("[name=url]", "https://example.com/sauti");
  await page.click("form[data-api] button.primary");
  await page.waitForSelector("#secret:not([hidden])");
  const secret = await page.textContent("#secret-text");
  await clickAndLoad(page, "[data-reload]");
  assert.ok(!(await page.content()).includes(secret));
  await clickAndLoad(page, "article .danger");
  assert.ok(await page.isVisible("text=No webhooks yet"));
  await finish(page);
});

test("usage is drawn by day, operation and key, and comes as CSV", async () => {
  const page = await stranger();
  await page.goto(at("/usage"));
  await page.waitForSelector("text=Nothing was used in this time");
  await page.goto(at(""));
  await speak(page, SENTENCE);
  await page.goto(at("/transcribe"));
  await page.setInputFiles("#file", world.recording);
  await page.waitForFunction(() => /KES/.test(document.getElementById("cost").textContent), null, { timeout: 60_000 });
  await page.goto(at("/usage"));
  for (const days of ["7 days", "90 days", "30 days"]) {
    await page.click(`text=${days}`);
    await page.waitForURL(new RegExp(`days=${Number.parseInt(days, 10)}`));
    assert.equal(await page.locator(".chart g").count(), Number.parseInt(days, 10));
  }
  const bars = await page
    .locator(".chart g:last-of-type rect")
    .evaluateAll((rects) => rects.slice(1).map((rect) => Number(rect.getAttribute("height"))));
  assert.ok(bars.every((height) => height > 0) && Math.abs(bars[0] + bars[1] - 100) < 0.01, JSON.stringify(bars));
  assert.match(await page.textContent("section:has(h2:text('By operation'))"), /speech.*KES 0\.0\d/s);
  assert.match(await page.textContent("section:has(h2:text('By key'))"), /console.*KES 0\.\d/s);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download as CSV")]);
  const csv = await readFile(await download.path(), "utf8");
  assert.match(csv, /speech/);
  assert.match(csv, /transcription/);
  await finish(page);
});

test("money shows the balance, how to fund, prices and a statement, and warns below the mark", async () => {
  const page = await stranger();
  await speak(page, SENTENCE);
  await page.goto(at("/money"));
  const workspace = await page.getAttribute("#shell", "data-workspace");
  assert.equal(await page.textContent("#workspace-id"), workspace);
  assert.match(await page.textContent("main"), /−KES 0\.0/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download as CSV")]);
  assert.ok((await readFile(await download.path(), "utf8")).trim().split("\n").length >= 3);
  await page.fill("[name=below]", "kumi");
  await page.click("form[action$=alert] button");
  await page.waitForSelector("text=Give an amount, such as 500");
  await page.goto(at("/money"));
  await page.fill("[name=below]", "19.9");
  await clickAndLoad(page, "form[action$=alert] button");
  await page.waitForSelector("text=Saved.");
  assert.equal(await page.inputValue("[name=below]"), "19.90");
  await page.goto(at(""));
  await speak(page, `${SENTENCE} Asante. `.repeat(2).trim());
  await page.goto(at("/money"));
  await page.waitForSelector("text=below your alert");
  assert.match(await world.service.letterText("low", page.email), /\/console\/money/);
  await finish(page);
});
