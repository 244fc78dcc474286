// Debian's Chromium, with a microphone that plays a file.

import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--autoplay-policy=no-user-gesture-required", "--mute-audio"];

export function openBrowser(microphoneWav) {
  const microphone = microphoneWav ? ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", `--use-file-for-fake-audio-capture=${microphoneWav}%noloop`] : [];
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: [...FLAGS, ...microphone] });
}

// A page that keeps what the browser complains of.
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("Failed to load resource")) page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(error.message));
  return page;
}

export async function signIn(page, service, email = service.demo.email, password = service.demo.password) {
  await page.goto(`${service.url}/console/sign-in`);
  await page.fill("[name=email]", email);
  await page.fill("[name=password]", password);
  await Promise.all([page.waitForURL(/\/console$/), page.click("main button.primary")]);
}
