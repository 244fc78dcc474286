// The way in: sign up, confirm, sign in, a forgotten password, the language.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SENTENCE, at, clickAndLoad, finish, newPage, signIn, signUp, signedIn, speak, stranger, world } from "../world.mjs";

test("a stranger signs up, confirms by the letter on the page, and hears a first sentence", async () => {
  const page = await newPage();
  await page.goto(world.service.url);
  await page.waitForURL(/sign-in/);
  await page.click("text=Make an account");
  await signUp(page, "amina@example.com", "siri kubwa sana", "Amina Duka");
  await page.waitForSelector("text=here is your letter");
  await page.click("main a.button.primary");
  await page.click("main button.primary");
  await page.waitForURL(/\/console\?done=welcome/);
  await page.waitForSelector("text=Press Speak and listen");
  assert.equal(await page.textContent("#balance"), "KES 20.00");
  // The text box holds an example, so one click is enough.
  await page.click("#go");
  await page.waitForSelector("#spoken .lit", { timeout: 60_000 });
  assert.match(await page.textContent("#balance"), /^KES 19\.\d{2,6}$/);
  await page.goto(at("/money"));
  assert.match(await page.textContent("main"), /welcome credit/);
  await finish(page);
});

test("a letter opened in another browser confirms, and asks to sign in", async () => {
  const page = await newPage();
  await signUp(page, "juma@example.com", "siri kubwa sana");
  const link = await page.getAttribute("main a.button.primary", "href");
  const other = await newPage();
  await other.goto(`${world.service.url}${link}`);
  await other.click("main button.primary");
  await other.waitForURL(/sign-in\?done=confirmed/);
  await other.goto(`${world.service.url}${link}`);
  await other.click("main button.primary");
  assert.match(await other.textContent("[role=alert]"), /Ask for a new one/);
  await signIn(other, "juma@example.com", "siri kubwa sana");
  assert.equal(await other.textContent("#balance"), "KES 20.00");
  await finish(other);
  await finish(page);
});

test("an unconfirmed account is told what to do", async () => {
  const page = await newPage();
  await signUp(page, "haraka@example.com", "siri kubwa sana");
  await signIn(page, "haraka@example.com", "siri kubwa sana");
  await page.waitForSelector("text=not confirmed yet");
  await clickAndLoad(page, "text=Send it again");
  await page.waitForSelector("text=on its way");
  await page.goto(at(""));
  await speak(page, SENTENCE);
  assert.match(await page.textContent("#error"), /confirm/i);
  await finish(page);
});

test("a forgotten password is replaced by the link in the letter", async () => {
  const page = await stranger();
  const { email } = page;
  await clickAndLoad(page, "text=Sign out");
  await page.click("text=Forgot your password?");
  await page.fill("[name=email]", email);
  await page.click("main button.primary");
  await page.waitForSelector("text=This service sends no mail");
  await page.goto(await world.service.letter("reset", email));
  await page.fill("[name=password]", "nyingine kabisa");
  await page.click("main button.primary");
  await page.waitForURL(/done=reset/);
  await signIn(page, email, "nyingine kabisa");
  await finish(page);
});

test("a wrong password and a password too short are told in plain words", async () => {
  const page = await newPage();
  await page.goto(at("/sign-in"));
  await page.fill("[name=email]", world.service.demo.email);
  await page.fill("[name=password]", "not the password");
  await page.click("main button.primary");
  await page.waitForSelector("text=The address or the password is wrong.");
  assert.equal(await page.inputValue("[name=email]"), world.service.demo.email);
  assert.equal(await page.inputValue("[name=password]"), "");
  await page.goto(at("/sign-up"));
  await page.evaluate(() => document.querySelector("[name=password]").removeAttribute("minlength"));
  await page.fill("[name=email]", "fupi@example.com");
  await page.fill("[name=password]", "fupi");
  await page.click("main button.primary");
  await page.waitForSelector("text=10 to 256 characters");
  await finish(page);
});

test("an ended session asks to sign in and comes back to the page", async () => {
  const page = await signedIn();
  await page.context().clearCookies({ name: "sauti_session" });
  await speak(page, SENTENCE);
  assert.match(await page.textContent("#error"), /You are signed out/);
  assert.equal(await page.getAttribute("#error a", "href"), "/console/sign-in?next=%2Fconsole");
  await page.goto(at("/keys"));
  assert.match(page.url(), /sign-in\?done=expired&next=%2Fconsole%2Fkeys/);
  await page.fill("[name=email]", world.service.demo.email);
  await page.fill("[name=password]", world.service.demo.password);
  await page.click("main button.primary");
  await page.waitForURL(/\/console\/keys$/);
  await finish(page);
});

test("Swahili is chosen by the browser and English by hand, and the other way round", async () => {
  const page = await signedIn({ locale: "sw-KE" });
  assert.equal(await page.textContent("h1"), "Soma maandishi kwa sauti");
  assert.equal(await page.getAttribute("html", "lang"), "sw");
  await page.fill("#text", "★★★");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /Maandishi hayana kinachoweza kusomwa/);
  await page.click("button[lang=en]");
  await page.waitForSelector("text=Speak a text");
  await page.goto(at("/usage"));
  assert.equal(await page.textContent("h1"), "Usage");
  await page.click("button[lang=sw]");
  await page.waitForSelector("h1:has-text('Matumizi')");
  await page.goto(at("/reset?token=abc123"));
  await page.click("button[lang=en]");
  await page.waitForURL(/reset\?token=abc123/);
  await finish(page);
});
