// Pictures of each page for the README, of a workspace that has seen some use.

import { join, resolve } from "node:path";
import { test } from "node:test";
import { repository } from "../service.mjs";
import { at, clickAndLoad, finish, newPage, signedIn, speak, world } from "../world.mjs";

const SPOKEN = [
  "Karibu Duka la Amina. Bofya moja kwa Kiswahili.",
  "Malipo yako ya KSh 2,500 yamepokelewa. Asante.",
  "Mkutano ni tarehe 12/10 saa 2:30 asubuhi.",
];
const folder = resolve(repository, process.env.SCREENSHOTS);

async function take(page, name, path) {
  if (path !== undefined) await page.goto(at(path), { waitUntil: "networkidle" });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

test("pictures on a wide screen", async () => {
  const outside = await newPage();
  await take(outside, "sign-up", "/sign-up");
  await finish(outside);
  const page = await signedIn();
  for (const text of SPOKEN.slice(1)) await speak(page, text);
  await page.check("input[value=juma]");
  await page.fill("#text", SPOKEN[0]);
  await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("Karibu Duka"));
  await page.click("#go");
  await page.waitForSelector("#spoken:has-text('Duka') .lit", { timeout: 60_000 });
  await page.click("#play");
  await take(page, "speak");
  await page.goto(at("/transcribe"));
  await page.setInputFiles("#file", world.recording);
  await page.waitForFunction(() => /KES/.test(document.getElementById("cost").textContent), null, { timeout: 60_000 });
  await page.click("#transcript button:nth-of-type(3)");
  await page.waitForSelector("#transcript button.lit");
  await take(page, "transcribe");
  await page.goto(at("/pronunciations"));
  await page.fill("[name=word]", "WhatsApp");
  await page.fill("[name=said]", "wotsap");
  await clickAndLoad(page, "form[data-api] button.primary");
  for (const name of ["voices", "pronunciations", "keys", "usage", "money", "members", "webhooks", "account", "operator"])
    await take(page, name, `/${name}`);
  await finish(page);
});

test("pictures on a phone, in Swahili and in the dark", async () => {
  const page = await signedIn({ colorScheme: "dark", viewport: { width: 360, height: 780 }, locale: "sw-KE" });
  for (const name of ["speak", "transcribe", "keys", "usage", "money"])
    await take(page, `phone-${name}`, name === "speak" ? "" : `/${name}`);
  await finish(page);
});
