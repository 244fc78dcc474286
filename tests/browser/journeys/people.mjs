// Members, workspaces, and one's own account.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at, clickAndLoad, finish, newPage, signIn, signedIn, stranger, world } from "../world.mjs";

test("somebody is invited by letter, joins, gets another role and is removed", async () => {
  const owner = await stranger();
  owner.on("dialog", (dialog) => dialog.accept());
  const guest = await stranger();
  await owner.goto(at("/members"));
  await owner.fill("form[data-api] [name=email]", guest.email);
  await clickAndLoad(owner, "form[data-api] button.primary");
  await owner.waitForSelector(`article:has-text('${guest.email}')`);
  await guest.goto(await world.service.letter("invite", guest.email));
  await guest.click("main button.primary");
  await guest.waitForURL(/members\?done=joined/);
  await guest.goto(at("/keys"));
  await guest.waitForSelector("text=Only admins and owners");
  await owner.goto(at("/members"));
  await owner.selectOption(`article:has-text('${guest.email}') select`, "admin");
  await clickAndLoad(owner, `article:has-text('${guest.email}') form button`);
  await guest.goto(at("/keys"));
  await guest.waitForSelector("text=New key");
  await owner.goto(at("/members"));
  await clickAndLoad(owner, `article:has-text('${guest.email}') .danger`);
  assert.equal(await owner.locator(`text=${guest.email}`).count(), 0);
  await finish(owner);
  await finish(guest);
});

test("an invitation can be taken back", async () => {
  const page = await stranger();
  await page.goto(at("/members"));
  await page.fill("form[data-api] [name=email]", "rafiki@example.com");
  await clickAndLoad(page, "form[data-api] button.primary");
  await page.click("article:has-text('rafiki@example.com') button");
  await page.waitForURL(/done=saved/);
  assert.equal(await page.locator("text=rafiki@example.com").count(), 0);
  await finish(page);
});

test("a second workspace is made, renamed and switched to and fro", async () => {
  const page = await stranger();
  await page.goto(at("/members"));
  await page.click("text=New workspace");
  await page.fill("[name=name]", "Duka la pili");
  await page.click("main button.primary");
  await page.waitForURL(/members\?done=saved/);
  assert.equal(await page.textContent("#balance"), "KES 0.00");
  await page.fill("form[action$='workspace/name'] [name=name]", "Duka kubwa");
  await clickAndLoad(page, "form[action$='workspace/name'] button");
  await page.waitForSelector("footer option:checked:has-text('Duka kubwa')", { state: "attached" });
  await page.selectOption("footer select", { label: "Mgeni" });
  await clickAndLoad(page, "footer select ~ button, footer label + button");
  assert.equal(await page.textContent("#balance"), "KES 20.00");
  await finish(page);
});

test("what is made in one tab is shown in the workspace that this tab shows", async () => {
  const page = await stranger();
  await page.goto(at("/workspace/new"));
  await page.fill("[name=name]", "Duka la pili");
  await page.click("main button.primary");
  await page.waitForURL(/members\?done=saved/);
  await page.goto(at("/keys"));
  const other = await page.context().newPage();
  await other.goto(at("/money"));
  await other.selectOption("footer select", { label: "Mgeni" });
  await clickAndLoad(other, "footer label + button");
  await page.fill("[name=name]", "Ya duka la pili");
  await page.click("form button.primary");
  await page.waitForSelector("#secret:not([hidden])");
  await clickAndLoad(page, "[data-reload]");
  assert.equal(await page.textContent("article h2"), "Ya duka la pili");
  await finish(page);
});

test("someone in no workspace is offered one, and may sign out", async () => {
  const owner = await stranger();
  owner.on("dialog", (dialog) => dialog.accept());
  const page = await stranger();
  // Another owner takes over and removes the one who made it.
  await page.goto(at("/members"));
  await page.selectOption("form[data-api] [name=role]", "owner");
  await page.fill("form[data-api] [name=email]", owner.email);
  await clickAndLoad(page, "form[data-api] button.primary");
  await owner.goto(await world.service.letter("invite", owner.email));
  await owner.click("main button.primary");
  await owner.waitForURL(/members\?done=joined/);
  await clickAndLoad(owner, `article:has-text('${page.email}') .danger`);
  await page.goto(at("/keys"));
  await page.waitForURL(/workspace\/new/);
  await page.waitForSelector("text=You are in no workspace any more");
  await page.fill("[name=name]", "Mwanzo mpya");
  await page.click("main button.primary");
  await page.waitForURL(/members\?done=saved/);
  await finish(owner);
  await finish(page);
});

test("a password is changed, and the other sessions end", async () => {
  const page = await stranger();
  const other = await newPage();
  await signIn(other, page.email, page.password);
  await page.goto(at("/account"));
  assert.equal(await page.locator(".lines li").count(), 2);
  await page.fill("[name=old]", "wrong password");
  await page.fill("[name=password]", "nyingine kabisa");
  await page.click("form[action$=password] button");
  await page.waitForSelector("text=The current password is wrong.");
  await page.fill("[name=old]", page.password);
  await page.fill("[name=password]", "nyingine kabisa");
  await clickAndLoad(page, "form[action$=password] button");
  await page.waitForSelector("text=Saved.");
  await other.goto(at("/keys"));
  await other.waitForURL(/sign-in/);
  await finish(other);
  await finish(page);
});

test("signing out everywhere ends every session", async () => {
  const page = await stranger();
  const other = await newPage();
  await signIn(other, page.email, page.password);
  await page.goto(at("/account"));
  await page.click("text=Sign out everywhere");
  await page.waitForURL(/done=signed-out/);
  await other.goto(at("/keys"));
  await other.waitForURL(/sign-in/);
  await finish(other);
  await finish(page);
});

test("an account is deleted by typing its address, and is gone", async () => {
  const page = await stranger();
  await page.goto(at("/account"));
  await page.fill("form[action$=delete] [name=email]", "mwingine@example.com");
  await page.fill("form[action$=delete] [name=password]", page.password);
  await page.click("form[action$=delete] button");
  await page.waitForSelector("text=Type your e-mail address to delete the account.");
  await page.fill("form[action$=delete] [name=email]", page.email);
  await page.fill("form[action$=delete] [name=password]", page.password);
  await page.check("form[action$=delete] [name=money]");
  await page.click("form[action$=delete] button");
  await page.waitForURL(/done=deleted/);
  await page.fill("[name=email]", page.email);
  await page.fill("[name=password]", page.password);
  await page.click("main button.primary");
  await page.waitForSelector("text=The address or the password is wrong.");
  await finish(page);
});

test("a page that does not exist says so and leads back", async () => {
  const page = await signedIn();
  await page.goto(at("/hakuna"));
  await page.waitForSelector("text=There is no such page.");
  await page.click("text=Back");
  await page.waitForSelector("text=Speak a text");
  await finish(page);
});
