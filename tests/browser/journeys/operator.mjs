// For whoever runs the service.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SENTENCE, at, clickAndLoad, finish, newPage, signIn, signUp, signedIn, speak, stranger } from "../world.mjs";

test("an operator sees health and queue, books money once, and it can be spoken for", async () => {
  const customer = await stranger();
  await customer.goto(at("/workspace/new"));
  await customer.fill("[name=name]", "Mteja");
  await customer.click("main button.primary");
  await customer.waitForURL(/members/);
  const workspace = await customer.getAttribute("#shell", "data-workspace");

  const operator = await signedIn();
  await operator.click("nav >> text=Operator");
  assert.match(await operator.textContent("section:has(h2:text('Health'))"), /ready.*answers/s);
  assert.match(await operator.textContent("[role=region][aria-label=Work]"), /speech\s*\d+\s*\d+/);
  for (const expected of [/done=credited$/, /done=credited-before$/]) {
    await operator.selectOption("[name=workspace]", workspace);
    await operator.fill("[name=amount]", "1,250.50");
    await operator.fill("[name=reference]", "QK12AB34");
    await operator.click("main form button.primary");
    await operator.waitForURL(expected);
  }
  assert.match(await operator.textContent(`tr:has-text('${workspace}')`), /KES 1,250\.50/);
  assert.match(await operator.textContent(`tr:has-text('${customer.email}')`), /confirmed/);
  await operator.selectOption("[name=workspace]", workspace);
  await operator.fill("[name=amount]", "nyingi");
  await operator.fill("[name=reference]", "QK12AB35");
  await operator.click("main form button.primary");
  await operator.waitForSelector("text=Give an amount, such as 500");
  await finish(operator);

  await customer.goto(at(""));
  await speak(customer, SENTENCE);
  assert.match(await customer.textContent("#balance"), /^KES 1,250\.4/);
  await finish(customer);
});

test("an operator finds a letter in the outbox and confirms an account by hand", async () => {
  const page = await newPage();
  await signUp(page, "barua@example.com", "siri kubwa sana");
  const operator = await signedIn();
  await operator.goto(at("/operator"));
  await operator.waitForSelector("tr:has-text('barua@example.com') a[href*='/console/confirm?token=']");
  await clickAndLoad(operator, "tr:has-text('barua@example.com') button");
  await operator.waitForSelector("tr:has-text('barua@example.com'):has-text('confirmed')");
  await signIn(page, "barua@example.com", "siri kubwa sana");
  assert.equal(await page.locator("text=not confirmed yet").count(), 0);
  await finish(operator);
  await finish(page);
});

test("to everyone else the operator's page does not exist", async () => {
  const page = await stranger();
  assert.equal(await page.locator("nav >> text=Operator").count(), 0);
  await page.goto(at("/operator"));
  await page.waitForSelector("text=There is no such page.");
  await finish(page);
});
