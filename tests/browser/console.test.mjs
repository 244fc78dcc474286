// The console's journeys in a real browser against a real service with its models.
//   SCREENSHOTS=docs/screenshots node --test   also keeps a picture of each page.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { openBrowser, openPage, signIn } from "./browser.mjs";
import { repository, startService } from "./service.mjs";

const SENTENCE = "Habari za asubuhi. Karibu sana nyumbani.";
const PAGES = ["", "/transcribe", "/voices", "/keys", "/usage", "/money", "/members", "/webhooks", "/account", "/operator"];
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let service;
let browser;
let recording;

before(async () => {
  service = await startService();
  const answer = await fetch(`${service.url}/v1/audio/speech`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.demo.api_key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ text: SENTENCE, voice_id: "asha" }),
  });
  assert.equal(answer.status, 200);
  recording = join(service.data, "habari.wav");
  await writeFile(recording, Buffer.from(await answer.arrayBuffer()));
  await service.run("account", "operator", service.demo.email);
  browser = await openBrowser(recording);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

async function signedIn(options) {
  const page = await openPage(browser, options);
  await signIn(page, service);
  return page;
}

async function picture(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(resolve(repository, process.env.SCREENSHOTS), `${name}.png`) });
}

async function finish(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

async function speak(page, text) {
  await page.fill("#text", text);
  await page.click("#go");
  await page.waitForFunction(() => !document.getElementById("go").disabled, null, { timeout: 60_000 });
}

test("a stranger signs up by mail, is told that money is missing, and hears a sentence once there is some", async () => {
  const page = await openPage(browser);
  await page.goto(`${service.url}/console/sign-up`);
  await page.fill("[name=name]", "Amina <b>Duka</b>");
  await page.fill("[name=email]", "amina@example.com");
  await page.fill("[name=password]", "siri kubwa sana");
  await page.click("main button.primary");
  await page.waitForSelector("text=Look into your mail");
  await page.goto(await service.letter("confirm"));
  await page.click("main button.primary");
  await page.waitForURL(/done=confirmed/);
  await signIn(page, service, "amina@example.com", "siri kubwa sana");
  await speak(page, SENTENCE);
  assert.match(await page.textContent("#error"), /The balance is not enough: this costs KES 0\.0\d+ and KES 0\.00 is left/);
  const workspace = await page.getAttribute("#shell", "data-workspace");

  const operator = await signedIn();
  await operator.goto(`${service.url}/console/operator`);
  await operator.selectOption("[name=workspace]", workspace);
  await operator.fill("[name=amount]", "50");
  await operator.fill("[name=reference]", "QK12AB34");
  await operator.click("main form button.primary");
  await operator.waitForURL(/done=credited/);
  await finish(operator);

  await speak(page, SENTENCE);
  assert.ok(await page.isVisible("#result"));
  await finish(page);
});

test("a text is shown as it will be said, spoken, drawn, lit up word by word, and kept in the history", async () => {
  const page = await signedIn();
  await page.fill("#text", "Nitalipa KSh 2,700 tarehe 3/5.");
  await page.waitForFunction(() => document.getElementById("said").textContent.includes("elfu mbili mia saba"));
  assert.match(await page.textContent("#price"), /^KES 0\.0/);
  await page.check("input[value=juma]");
  await page.click("#go");
  await page.waitForSelector("#spoken .lit", { timeout: 60_000 });
  await picture(page, "speak");
  const inked = await page.evaluate(() => {
    const canvas = document.getElementById("wave");
    return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0);
  });
  assert.ok(inked, "the waveform is drawn");
  assert.match(await page.getAttribute("#download", "download"), /sauti-juma\.wav/);
  const curl = await page.textContent("#curl");
  assert.ok(curl.includes("YOUR_KEY") && curl.includes("juma") && !curl.includes("sauti_live"));
  assert.equal(await page.locator("#history li").count(), 1);
  await finish(page);
});

test("markup in a text stays text", async () => {
  const page = await signedIn();
  await speak(page, "Habari <img src=x onerror=alert(1)> rafiki");
  assert.equal(await page.locator("main img").count(), 0);
  await finish(page);
});

test("a voice is previewed", async () => {
  const page = await signedIn();
  const [answer] = await Promise.all([page.waitForResponse(/\/preview$/, { timeout: 60_000 }), page.click("[data-preview=zuri]")]);
  assert.equal(answer.status(), 200);
  await finish(page);
});

test("a file is transcribed into words that can be heard again and saved", async () => {
  const page = await signedIn();
  await page.goto(`${service.url}/console/transcribe`);
  await page.setInputFiles("#file", recording);
  await page.waitForSelector("#transcript button", { timeout: 60_000 });
  assert.match(await page.textContent("#transcript"), /asubuhi/i);
  await page.click("#transcript button:nth-of-type(3)");
  await page.waitForFunction(() => document.getElementById("audio").currentTime > 0.1);
  await picture(page, "transcribe");
  for (const [kind, expected] of [["txt", /asubuhi/i], ["srt", /00:00:0\d,\d{3} --> /], ["vtt", /^WEBVTT/], ["json", /"words"/]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-save=${kind}]`)]);
    assert.match(await readFile(await download.path(), "utf8"), expected, kind);
  }
  await finish(page);
});

test("something that is no recording is refused in plain words", async () => {
  const page = await signedIn();
  await page.goto(`${service.url}/console/transcribe`);
  await page.setInputFiles("#file", { name: "x.wav", mimeType: "audio/wav", buffer: Buffer.from("this is no sound at all") });
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /no recording that can be read/);
  await finish(page);
});

for (const live of [false, true]) {
  test(`the microphone is heard, ${live ? "live" : "as a recording"}`, async () => {
    const page = await signedIn();
    await page.goto(`${service.url}/console/transcribe`);
    await page.setChecked("#live", live);
    await page.click("#record");
    await page.waitForFunction(() => document.getElementById("meter").value > 0.02, null, { timeout: 20_000 });
    await page.waitForTimeout(4_500);
    assert.match(await page.textContent("#timer"), /0:0[3-9]/);
    await page.click("#record");
    await page.waitForFunction(() => /KES/.test(document.getElementById("cost").textContent), null, { timeout: 60_000 });
    assert.match(await page.textContent("#transcript"), /habari|asubuhi|karibu|nyumbani/i);
    await finish(page);
  });
}

test("a key is shown once, works, and stops working when it is revoked", async () => {
  const page = await signedIn();
  await page.goto(`${service.url}/console/keys`);
  await page.fill("form[data-api] [name=name]", "IVR <script>");
  await page.fill("[name=spend_cap_micro]", "2.5");
  await page.click("form[data-api] button.primary");
  await page.waitForSelector("#secret:not([hidden])");
  const key = await page.textContent("#secret-text");
  const works = async () => (await fetch(`${service.url}/v1/voices`, { headers: { Authorization: `Bearer ${key}` } })).status;
  assert.equal(await works(), 200);
  await Promise.all([page.waitForEvent("load"), page.click("[data-reload]")]);
  await page.waitForSelector("text=IVR <script>");
  assert.ok(!(await page.content()).includes(key));
  await picture(page, "keys");
  page.on("dialog", (dialog) => dialog.accept());
  await Promise.all([page.waitForEvent("load"), page.click("article:has-text('IVR') .danger")]);
  assert.equal(await works(), 401);
  await finish(page);
});

test("webhooks and invitations are added and taken back", async () => {
  const page = await signedIn();
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto(`${service.url}/console/webhooks`);
  await page.fill("[name=url]", "https://example.com/sauti");
  await page.click("form[data-api] button.primary");
  await page.waitForSelector("#secret:not([hidden])");
  await Promise.all([page.waitForEvent("load"), page.click("[data-reload]")]);
  await Promise.all([page.waitForEvent("load"), page.click("article .danger")]);
  assert.ok(await page.isVisible("text=No webhooks yet"));
  await page.goto(`${service.url}/console/members`);
  await page.fill("form[data-api] [name=email]", "rafiki@example.com");
  await Promise.all([page.waitForEvent("load"), page.click("form[data-api] button.primary")]);
  await page.click("article:has-text('rafiki@example.com') button");
  await page.waitForURL(/done=saved/);
  assert.equal(await page.locator("text=rafiki@example.com").count(), 0);
  await finish(page);
});

test("a wrong password, an ended session and a busy service are told in plain words", async () => {
  const page = await openPage(browser);
  await page.goto(`${service.url}/console/sign-in`);
  await page.fill("[name=email]", service.demo.email);
  await page.fill("[name=password]", "not the password");
  await page.click("main button.primary");
  await page.waitForSelector("text=The address or the password is wrong.");
  await signIn(page, service);
  await page.route("**/v1/audio/speech", (route) => route.fulfill({ status: 503, headers: { "Retry-After": "7" }, contentType: "application/problem+json", body: '{"code":"overloaded","status":503}' }));
  await speak(page, SENTENCE);
  assert.match(await page.textContent("#error"), /Try again in 7 s/);
  await page.unroute("**/v1/audio/speech");
  await page.context().clearCookies();
  await speak(page, SENTENCE);
  assert.match(await page.textContent("#error"), /Sign in again/);
  await page.goto(`${service.url}/console/keys`);
  assert.match(page.url(), /sign-in\?done=expired&next=%2Fconsole%2Fkeys/);
  await finish(page);
});

test("Swahili is chosen by the browser and English by hand", async () => {
  const page = await signedIn({ locale: "sw-KE" });
  assert.equal(await page.textContent("h1"), "Sema maandishi");
  await page.fill("#text", "★★★");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /Maandishi hayana kinachoweza kusemwa/);
  await page.click("button[lang=en]");
  await page.waitForSelector("text=Speak a text");
  await finish(page);
});

for (const [scheme, width] of [["light", 1280], ["dark", 320]]) {
  test(`every page is accessible and fits, ${scheme}, ${width} px`, async () => {
    const page = await signedIn({ colorScheme: scheme, viewport: { width, height: 860 }, locale: width === 320 ? "sw-KE" : "en-GB" });
    for (const path of PAGES) {
      await page.goto(`${service.url}/console${path}`, { waitUntil: "networkidle" });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${path} is ${wide} px wide`);
      // The page's own policy forbids foreign scripts, so axe comes in over the debugging line.
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }));
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes[0].html]), [], path);
      const name = path.slice(1) || "speak";
      if (width === 320) await picture(page, `phone-${name}`);
      else if (!["speak", "transcribe", "keys"].includes(name)) await picture(page, name);
    }
    await finish(page);
  });
}
