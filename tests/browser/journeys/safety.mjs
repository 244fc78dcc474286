// What must not happen: forms of other sites, markup that runs, keys in pages.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { OPERATOR, ROOMS, at, clickAndLoad, finish, newPage, signedIn, speak, stranger, world } from "../world.mjs";

const ATTACK = `"><img src=x onerror=alert(1)><script>alert(1)</script>'{{7*7}}`;

// Any dialog would be the attack's: none of ours is asked for in between.
function watch(page) {
  page.ran = false;
  page.on("dialog", async (dialog) => {
    page.ran ||= dialog.message() === "1";
    await dialog.accept();
  });
}

async function assertHarmless(page, where) {
  assert.equal(page.ran, false, `${where} ran it`);
  assert.equal(await page.locator("img[src=x]").count(), 0, where);
  assert.equal(await page.locator("script:not([src]):not([type='application/json'])").count(), 0, where);
}

test("markup typed into every text field stays text, on every page", async () => {
  const page = await stranger();
  watch(page);
  const tried = new Set();
  const fields = () =>
    page.locator(
      "main input:not([type=hidden], [type=checkbox], [type=radio], [type=range], [type=file], [type=number], [type=password]), main textarea",
    );
  // Each form with a free text, sent with the attack in it.
  const forms = [
    ["/workspace/new", "form[action$=new]", { name: ATTACK }],
    ["/keys", "form[data-api]", { name: ATTACK }],
    ["/keys", "form[data-api]", { spend_cap_micro: ATTACK.slice(0, 20) }],
    ["/pronunciations", "form[data-api]", { word: `<b>${"x"}</b>`, said: ATTACK }],
    ["/webhooks", "form[data-api]", { url: `https://example.com/?q=${ATTACK}` }],
    ["/members", "form[data-api]", { email: "a<b>c@example.com" }],
    ["/members", "form[action$='workspace/name']", { name: ATTACK }],
    ["/money", "form[action$=alert]", { below: ATTACK.slice(0, 20) }],
    ["/account", "form[action$=name]", { name: ATTACK }],
    ["/account", "form[action$=delete]", { email: ATTACK }],
  ];
  for (const [path, form, values] of forms) {
    await page.goto(at(path));
    for (const [name, value] of Object.entries(values)) {
      tried.add(`${path} ${name}`);
      await page.fill(`${form} [name=${name}]`, value);
    }
    await page.evaluate((selector) => {
      document.querySelector(selector).noValidate = true;
    }, form);
    await page.click(`${form} button`);
    await page.waitForTimeout(700);
    await assertHarmless(page, `${path} ${form}`);
  }
  for (const path of ROOMS) {
    await page.goto(at(path));
    await assertHarmless(page, path);
    // No field of these pages may have been forgotten above.
    for (const field of await fields().all()) {
      const name = (await field.getAttribute("name")) ?? (await field.getAttribute("id"));
      const known = tried.has(`${path} ${name}`) || ["text", "keyterms"].includes(name);
      assert.ok(known, `${path} ${name} was not tried`);
    }
  }
  await page.goto(at("/keys"));
  assert.ok((await page.textContent("main")).includes("onerror=alert(1)"), "it is shown as text");
  await page.goto(at(""));
  await speak(page, `Habari ${ATTACK}`);
  await assertHarmless(page, "speak");
  await page.goto(at(`#text=${encodeURIComponent(ATTACK)}`));
  await page.reload();
  await assertHarmless(page, "the text in the address");
  await page.goto(at("/transcribe"));
  await page.fill("#keyterms", ATTACK);
  await page.setInputFiles("#file", { name: `${ATTACK}.wav`, mimeType: "audio/wav", buffer: Buffer.from("no sound") });
  await page.waitForSelector("#error:not([hidden])");
  await assertHarmless(page, "transcribe");
  await finish(page);
});

test("markup in the forms before the door and in addresses stays text", async () => {
  const page = await newPage();
  watch(page);
  for (const path of ["/sign-in", "/sign-up", "/forgot"]) {
    await page.goto(at(path));
    for (const field of await page.locator("main input:not([type=hidden])").all()) await field.fill(ATTACK);
    await page.evaluate(() => {
      document.querySelector("main form").noValidate = true;
    });
    await page.click("main button.primary");
    await page.waitForLoadState();
    await assertHarmless(page, path);
  }
  for (const path of ["/sign-in?next=", "/confirm?token=", "/reset?token=", "/hakuna/", "/sign-in?done="]) {
    await page.goto(at(path + encodeURIComponent(ATTACK)));
    await assertHarmless(page, path);
  }
  await finish(page);
});

test("a transcript and a live word with markup stay text", async () => {
  const page = await signedIn();
  watch(page);
  await page.goto(at("/transcribe"));
  const words = [{ word: ATTACK, start: 0, end: 1, confidence: 0.2 }];
  const events = [
    { type: "transcript.text.delta", delta: ATTACK, start: 0, end: 1, done_seconds: 1, words },
    { type: "transcript.text.done", text: ATTACK, usage: { cost_micro: 1, balance_micro: 1 } },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  await page.route("**/v1/audio/transcriptions", (route) =>
    route.fulfill({ contentType: "text/event-stream", headers: { "Sauti-Units": "1" }, body }),
  );
  await page.setInputFiles("#file", world.recording);
  await page.waitForSelector("#transcript button");
  await assertHarmless(page, "the transcript");
  await finish(page);
});

test("a form without the page's token, or with another's, is refused in plain words", async () => {
  const page = await signedIn();
  for (const token of ["", "0".repeat(128)]) {
    await page.goto(at("/account"));
    await page.evaluate((value) => {
      document.querySelector("form[action$=name] [name=csrf]").value = value;
    }, token);
    await page.fill("form[action$=name] [name=name]", "Imebadilishwa");
    await page.click("form[action$=name] button");
    await page.waitForSelector("text=Reload the page");
    await page.goto(at("/account"));
    assert.notEqual(await page.inputValue("form[action$=name] [name=name]"), "Imebadilishwa");
  }
  const status = await page.evaluate(
    async () =>
      (await fetch("/v1/quotes", { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"text":"habari"}' }))
        .status,
  );
  assert.equal(status, 403);
  await finish(page);
});

// A page elsewhere with our form in it, or with our page in a frame.
function evilPage(request, response) {
  const { url, demo } = world.service;
  response.setHeader("Content-Type", "text/html");
  if (request.url === "/frame") return response.end(`<iframe src="${url}/console/account"></iframe>`);
  const target = request.url === "/sign-in" ? "/console/sign-in" : "/console/account/name";
  const fields = { email: demo.email, password: demo.password, name: "Mwizi" };
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  return response.end(`<form method="post" action="${url}${target}">${inputs.join("")}<button>Zawadi</button></form>`);
}

test("another site can neither send our forms nor frame our pages", async () => {
  // "localhost" is another site than 127.0.0.1.
  const evil = createServer(evilPage);
  await new Promise((done) => evil.listen(0, "localhost", done));
  try {
    const elsewhere = `http://localhost:${evil.address().port}`;
    const page = await newPage();
    await page.goto(`${elsewhere}/sign-in`);
    await page.click("button");
    await page.waitForSelector("text=That did not work");
    assert.equal((await page.context().cookies()).filter(({ name }) => name === "sauti_session").length, 0);
    await page.context().close();

    const mine = await signedIn();
    await mine.goto(`${elsewhere}/name`);
    await mine.click("button");
    // Without its cookie the form finds nobody signed in; the redirect after it has the cookie again.
    await mine.waitForSelector("#shell, .plain");
    await mine.goto(at("/account"));
    assert.notEqual(await mine.inputValue("form[action$=name] [name=name]"), "Mwizi");
    await mine.goto(`${elsewhere}/frame`, { waitUntil: "domcontentloaded" });
    await mine.waitForTimeout(1_000);
    const framed = mine.frames().find((frame) => frame !== mine.mainFrame());
    const text = await Promise.race([framed.content().catch(() => ""), new Promise((done) => setTimeout(done, 5_000, ""))]);
    assert.ok(!text.includes("Sign out"), "no page of ours in a frame");
    await mine.context().close();
  } finally {
    evil.closeAllConnections();
    evil.close();
  }
});

test("the session's cookie is out of reach of scripts, and no key stands in any page", async () => {
  const page = await signedIn();
  const { value, httpOnly, sameSite } = (await page.context().cookies()).find(({ name }) => name === "sauti_session");
  assert.ok(httpOnly && sameSite === "Lax");
  for (const path of [...ROOMS, OPERATOR]) {
    const answer = await page.goto(at(path));
    const policy = answer.headers()["content-security-policy"];
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'sha256-/);
    assert.ok(!policy.includes("unsafe"), policy);
    const html = await page.content();
    assert.ok(!html.includes(world.service.demo.api_key) && !html.includes(value), path);
    assert.ok(!(await page.evaluate(() => document.cookie)).includes("sauti_session"), path);
  }
  await clickAndLoad(page, "text=Sign out");
  await finish(page);
});
