// Every page in both languages, light and dark, on a narrow and a wide screen: accessible, fitting, calm, light.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { OPERATOR, ROOMS, SENTENCE, at, finish, newPage, signedIn, speak, stranger, world } from "../world.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const PAGES = [...ROOMS, OPERATOR, "/workspace/new", "/invite?token=x", "/hakuna"];
const DOORS = ["/sign-in", "/sign-up", "/forgot", "/reset?token=x", "/confirm?token=x"];

const BYTES_MAX = 100_000;
// What Google calls good is 0.1.
const SHIFT_MAX = 0.05;

async function assertAccessible(page, where) {
  // The page's own policy forbids foreign scripts, so axe comes in over the debugging line.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }),
  );
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(({ id, nodes }) => [id, nodes[0].html]),
    [],
    where,
  );
}

async function assertFits(page, width, where) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `${where} is ${wide} px wide`);
}

// How much of what one looks at has jumped since the page was opened.
const watchShifts = () => {
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!entry.hadRecentInput)
        globalThis.shifts.push([entry.value, entry.sources?.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? node?.nodeName)]);
    }
  }).observe({ type: "layout-shift", buffered: true });
};

async function assertCalm(page, where) {
  const shifts = await page.evaluate(() => globalThis.shifts);
  const sum = shifts.reduce((all, [value]) => all + value, 0);
  assert.ok(sum <= SHIFT_MAX, `${where} jumped by ${sum}: ${JSON.stringify(shifts)}`);
}

async function assertNothingBlocks(page, where) {
  const blocking = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter((entry) => entry.renderBlockingStatus === "blocking")
      .map(({ name }) => name),
  );
  assert.deepEqual(blocking, [], `${where} waits for these before it shows anything`);
}

for (const [scheme, locale, width] of [
  ["light", "en-GB", 1280],
  ["dark", "sw-KE", 1280],
  ["light", "sw-KE", 320],
  ["dark", "en-GB", 320],
]) {
  test(`every page is accessible, fits and stays calm: ${scheme}, ${locale}, ${width} px`, async () => {
    const options = { colorScheme: scheme, viewport: { width, height: 860 }, locale };
    const page = await signedIn(options);
    const outside = await newPage(options);
    for (const [visitor, paths] of [
      [page, PAGES],
      [outside, DOORS],
    ]) {
      await visitor.addInitScript(watchShifts);
      for (const path of paths) {
        const where = `${path} ${scheme} ${locale} ${width}`;
        await visitor.goto(at(path), { waitUntil: "networkidle" });
        assert.equal(await visitor.getAttribute("html", "lang"), locale.slice(0, 2), where);
        await assertFits(visitor, width, where);
        await assertCalm(visitor, where);
        await assertNothingBlocks(visitor, where);
        await assertAccessible(visitor, where);
        const name = path.slice(1).split("?")[0].replace("/", "-") || "speak";
        if (process.env.LOOK)
          await visitor.screenshot({
            path: `${process.env.LOOK}/${name}-${scheme}-${locale.slice(0, 2)}-${width}.png`,
            fullPage: true,
          });
      }
    }
    await finish(outside);
    await finish(page);
  });
}

test("speaking and transcribing move nothing out of place, and stay accessible", async () => {
  const page = await signedIn();
  await page.addInitScript(watchShifts);
  await page.goto(at(""), { waitUntil: "networkidle" });
  await speak(page, SENTENCE);
  await page.waitForSelector("#spoken .lit");
  await assertCalm(page, "speak");
  await assertAccessible(page, "speak, with a result");
  await page.goto(at("/transcribe"), { waitUntil: "networkidle" });
  await page.setInputFiles("#file", world.recording);
  await page.waitForFunction(() => /KES/.test(document.getElementById("cost").textContent), null, { timeout: 60_000 });
  await assertCalm(page, "transcribe");
  await assertAccessible(page, "transcribe, with a result");
  await finish(page);
});

test("an empty workspace's pages say what to do next", async () => {
  const page = await stranger({ locale: "sw-KE" });
  for (const [path, hint] of [
    ["/keys", "Bado hakuna funguo"],
    ["/usage", "Soma sentensi ya kwanza"],
    ["/webhooks", "Bado hakuna webhook"],
    ["/pronunciations", "Bado hakuna matamshi"],
  ]) {
    await page.goto(at(path));
    assert.match(await page.textContent("main"), new RegExp(hint), path);
  }
  await page.goto(at(""));
  assert.match(await page.textContent("#spoken"), /itasikika hapa/);
  await finish(page);
});

test("a first visit weighs less than 100 kB", async () => {
  const page = await newPage();
  const line = await page.context().newCDPSession(page);
  await line.send("Network.enable");
  let bytes = 0;
  const perFile = new Map();
  line.on("Network.responseReceived", ({ requestId, response }) => perFile.set(requestId, response.url));
  line.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto(at("/sign-in"), { waitUntil: "networkidle" });
  const door = bytes;
  await page.fill("[name=email]", world.service.demo.email);
  await page.fill("[name=password]", world.service.demo.password);
  await page.click("main button.primary");
  await page.waitForURL(/\/console$/);
  await page.waitForLoadState("networkidle");
  console.log(`first page ${door} bytes; with the speak page after it ${bytes} bytes over the line`);
  assert.ok(door > 1_000 && bytes > door && bytes < BYTES_MAX, `${bytes} bytes: ${[...perFile.values()].join(" ")}`);
  await finish(page);
});

test("every page can be walked through by keyboard", async () => {
  const page = await signedIn();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  await page.focus("#text");
  const reached = new Set();
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    reached.add(
      await page.evaluate(
        () => document.activeElement.id || document.activeElement.getAttribute("name") || document.activeElement.dataset.preview,
      ),
    );
  }
  for (const id of ["said", "voice", "speed", "pitch", "volume", "format", "go", "curl"]) assert.ok(reached.has(id), `${id} of ${[...reached]}`);
  await page.focus("#go");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#spoken .lit", { timeout: 60_000 });
  await finish(page);
});

test("on a phone the name of the current page is in sight", async () => {
  const page = await signedIn({ viewport: { width: 360, height: 740 } });
  for (const path of ["", "/webhooks"]) {
    await page.goto(at(path));
    const places = await page.evaluate(() => {
      const current = document.querySelector("nav [aria-current]");
      return [current, current.closest("nav")].map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right]);
    });
    const [[left, right], [from, to]] = places;
    assert.ok(left >= from && right <= to, `${path}: ${places}`);
  }
  await finish(page);
});
