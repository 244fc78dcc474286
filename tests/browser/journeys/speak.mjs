// Speak a text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../service.mjs";
import { SENTENCE, at, clickAndLoad, finish, newPage, signIn, signedIn, speak, stranger } from "../world.mjs";

test("a text is shown as it will be read, spoken, drawn and lit up word by word", async () => {
  const page = await signedIn();
  await page.fill("#text", "Nitalipa KSh 2,700 tarehe 3/5.");
  await page.waitForFunction(() => document.getElementById("said").textContent.includes("elfu mbili mia saba"));
  assert.equal(await page.textContent("#price"), "KES 0.108");
  assert.match(await page.textContent("#length"), /^about \d+ s$/);
  const said = await page.textContent("#said");
  assert.equal(await page.textContent("#characters"), String(said.length), "what is said is what is priced");
  await page.check("input[value=juma]");
  await page.click("#go");
  await page.waitForSelector("#spoken .lit", { timeout: 60_000 });
  const inked = await page.evaluate(() => {
    const canvas = document.getElementById("wave");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, 8);
    return data.some((value) => value > 0);
  });
  assert.ok(inked, "the waveform is drawn higher than a flat line");
  assert.match(await page.getAttribute("#download", "download"), /sauti-juma\.wav/);
  const curl = await page.textContent("#curl");
  assert.ok(curl.includes("YOUR_KEY") && curl.includes("juma") && !curl.includes("sauti_live"));
  await finish(page);
});

test("a change of the language keeps the text, the voice and the days that are shown", async () => {
  const page = await signedIn();
  await page.goto(at("?voice=juma"));
  await page.fill("#text", SENTENCE);
  await clickAndLoad(page, "[name=language][value=sw]");
  assert.equal(await page.inputValue("#text"), SENTENCE);
  assert.ok(await page.isChecked("input[value=juma]"));
  await page.goto(at("/usage?days=90&done=saved"));
  await clickAndLoad(page, "[name=language][value=en]");
  assert.equal(new URL(page.url()).search, "?days=90");
  await finish(page);
});

test("a click on the waveform plays from there", async () => {
  const page = await signedIn();
  await speak(page, SENTENCE);
  await page.waitForFunction(() => /\/ 0:0[2-9]/.test(document.getElementById("clock").textContent));
  await page.click("#play");
  const { width } = await page.locator("#wave").boundingBox();
  await page.click("#wave", { position: { x: width * 0.8, y: 30 } });
  await page.waitForFunction(() => /^0:0[1-9] \//.test(document.getElementById("clock").textContent));
  await finish(page);
});

test("every format that is offered comes back as a file", async () => {
  const page = await signedIn();
  for (const format of await page.locator("#format option").evaluateAll((options) => options.map((option) => option.value))) {
    await page.selectOption("#format", format);
    for (const [id, value] of [["speed", "1.5"], ["pitch", "2"], ["volume", "-6"]]) await page.fill(`#${id}`, value);
    await speak(page, "Habari yako.");
    await page.waitForFunction(() => document.querySelector("#curl").textContent.includes('"speed":1.5,"pitch":2,"volume":-6'));
    assert.ok(await page.isHidden("#error"), `${format}: ${await page.textContent("#error")}`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
    assert.match(download.suggestedFilename(), /^sauti-asha\.(wav|mp3|ogg|flac)$/, format);
  }
  await finish(page);
});

test("what was spoken stays in this window, across pages, and only for this session", async () => {
  const page = await signedIn();
  await speak(page, SENTENCE);
  await speak(page, "Asante sana.");
  assert.equal(await page.locator("#history li").count(), 2);
  await page.goto(at("/voices"));
  await page.goto(at(""));
  assert.equal(await page.locator("#history li").count(), 2);
  await page.click("#history li:nth-child(2) button:nth-of-type(1)");
  await page.waitForSelector("#spoken .lit");
  assert.match(await page.textContent("#spoken"), /asubuhi/);
  await page.click("#history li:nth-child(2) button:nth-of-type(2)");
  assert.equal(await page.inputValue("#text"), SENTENCE);
  const other = await page.context().newPage();
  await other.goto(at(""));
  assert.equal(await other.locator("#history li").count(), 0, "another window starts empty");
  await other.close();
  await clickAndLoad(page, "text=Sign out");
  await signIn(page);
  assert.equal(await page.locator("#history li").count(), 0, "another session starts empty");
  assert.equal(await page.evaluate(() => Object.keys(sessionStorage).length), 0);
  await finish(page);
});

test("a voice is heard before it is chosen, and chosen from its own page", async () => {
  const page = await signedIn();
  await page.goto(at("/voices"));
  const [answer] = await Promise.all([page.waitForResponse(/\/preview$/), page.click("[data-preview=zuri]")]);
  assert.equal(answer.status(), 200);
  assert.ok((await page.locator("article").count()) >= 4);
  await page.click("article:has-text('Zuri') a");
  assert.ok(await page.isChecked("input[value=zuri]"));
  const [again] = await Promise.all([page.waitForResponse(/\/preview$/), page.click("[data-preview=baraka]")]);
  assert.equal(again.status(), 200);
  await finish(page);
});

test("an empty balance is told with the price, what is left, and where to add money", async () => {
  const page = await stranger();
  // A second workspace starts without money.
  await page.goto(at("/workspace/new"));
  await page.fill("[name=name]", "Tupu");
  await page.click("main button.primary");
  await page.waitForURL(/members/);
  await page.goto(at(""));
  await speak(page, SENTENCE);
  assert.match(await page.textContent("#error"), /The balance is not enough: this costs KES 0\.0\d+ and KES 0\.00 is left/);
  await page.click("#error a");
  await page.waitForURL(/\/console\/money$/);
  await page.waitForSelector("text=The balance is empty");
  await finish(page);
});

test("a service that has not loaded its models yet says when to try again", async () => {
  const starting = await startService({ withModels: false });
  try {
    const page = await newPage();
    await page.goto(`${starting.url}/console/sign-in`);
    await page.fill("[name=email]", starting.demo.email);
    await page.fill("[name=password]", starting.demo.password);
    await page.click("main button.primary");
    await page.waitForURL(/\/console$/);
    await speak(page, SENTENCE);
    assert.match(await page.textContent("#error"), /busy or still starting\. Try again in \d+ s/);
    assert.equal(await page.textContent("#balance"), "KES 1,000.00", "nothing was charged");
    await page.goto(`${starting.url}/console/operator`);
    await page.waitForSelector("text=/loading its models|cannot load its models/");
    await finish(page);
  } finally {
    await starting.stop();
  }
});

test("a busy service and a broken line are told in plain words", async () => {
  const page = await signedIn();
  await page.route("**/v1/audio/speech", (route) =>
    route.fulfill({
      status: 503,
      headers: { "Retry-After": "7" },
      contentType: "application/problem+json",
      body: '{"code":"overloaded","status":503}',
    }),
  );
  await speak(page, SENTENCE);
  assert.match(await page.textContent("#error"), /Try again in 7 s/);
  await page.unroute("**/v1/audio/speech");
  await page.context().setOffline(true);
  await speak(page, SENTENCE);
  assert.match(await page.textContent("#error"), /cannot be reached/);
  await page.context().setOffline(false);
  await speak(page, SENTENCE);
  assert.ok(await page.isHidden("#error"));
  page.complaints = page.complaints.filter((text) => !text.includes("ERR_INTERNET_DISCONNECTED"));
  await finish(page);
});
