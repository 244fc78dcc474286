// Debian's Chromium, with a microphone that plays a file.

import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--autoplay-policy=no-user-gesture-required",
  "--mute-audio",
];

export function openBrowser(microphoneWav) {
  const microphone = [
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    `--use-file-for-fake-audio-capture=${microphoneWav}%noloop`,
  ];
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [...FLAGS, ...microphone],
  });
}

// A page that keeps what the browser complains of. A refusal that a journey asks for is no complaint.
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !message.text().startsWith("Failed to load resource"))
      page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("requestfailed", (request) => {
    if (request.failure()?.errorText !== "net::ERR_ABORTED")
      page.complaints.push(`${request.url()} ${request.failure()?.errorText}`);
  });
  page.on("response", (response) => {
    const inPlan = response.url().includes("/v1/") || response.request().isNavigationRequest();
    if (response.status() >= 400 && !inPlan) page.complaints.push(`${response.status()} ${response.url()}`);
  });
  return page;
}
