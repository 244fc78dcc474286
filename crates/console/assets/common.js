// What every page's script needs: words, money, calls with the session's token, copying, previews.

const shell = document.getElementById("shell");
const words = JSON.parse(document.getElementById("words").textContent);
export const language = document.documentElement.lang;
export const currency = shell.dataset.currency;

export const byId = (id) => document.getElementById(id);

export function say(key, ...values) {
  return values.reduce((text, value, i) => text.replace(`{${i}}`, value), words[key] ?? key);
}

export function money(micro) {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 6 };
  return `${micro < 0 ? "−" : ""}${currency} ${(Math.abs(micro) / 1e6).toLocaleString("en", digits)}`;
}

export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export const sessionHeaders = {
  "X-CSRF-Token": shell.dataset.csrf,
  "Sauti-Workspace": shell.dataset.workspace,
  "Accept-Language": language,
};

// A refusal, in words a person understands, and where to go about it.
export class Refusal extends Error {
  constructor(message, link) {
    super(message);
    this.link = link;
  }
}

export function refusal(status, problem, retryAfter) {
  const wait = retryAfter || 5;
  if (status === 401)
    return new Refusal(say("error_401"), {
      href: `/console/sign-in?next=${encodeURIComponent(location.pathname)}`,
      text: say("sign_in"),
    });
  if (status === 402 && problem.required !== undefined)
    return new Refusal(say("error_402", money(problem.required), money(problem.available)), {
      href: "/console/money",
      text: say("add_money"),
    });
  if (status === 413 || status === 415 || status === 500) return new Refusal(say(`error_${status}`));
  if (status === 429 || status === 503) return new Refusal(say(`error_${status}`, wait));
  const own = `error_${problem.code}`;
  if (own in words) return new Refusal(say(own));
  const wrong = problem.errors?.[0];
  if (wrong) return new Refusal(words[`field_${wrong.field}_${wrong.code}`] ?? words[`field_${wrong.field}`] ?? wrong.message);
  return new Refusal(problem.detail || say("error_500"));
}

export async function call(method, path, body, options = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { ...sessionHeaders, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      ...options,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(say("error_network"));
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw refusal(response.status, problem, response.headers.get("Retry-After"));
  }
  showBalance(response.headers.get("Sauti-Balance"));
  return response;
}

export function showBalance(micro) {
  if (micro !== null && micro !== undefined && micro !== "") byId("balance").textContent = money(Number(micro));
}

export function showError(error, place = byId("error")) {
  if (error?.name === "AbortError") return;
  if (!(error instanceof Refusal)) console.warn(error);
  place.textContent = error instanceof Refusal ? error.message : say("error_500");
  if (error?.link) {
    const link = document.createElement("a");
    link.href = error.link.href;
    link.textContent = error.link.text;
    place.append(" ", link);
  }
  place.hidden = false;
}

export function hideError(place = byId("error")) {
  if (place) place.hidden = true;
}

export async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without HTTPS there is no clipboard; selecting the text is the next best thing.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = say("copied");
  setTimeout(() => {
    button.textContent = before;
  }, 1500);
}

// A link would show the workspace of the cookie, which another tab may have changed.
async function download(link) {
  hideError();
  try {
    const response = await call("GET", link.getAttribute("href"));
    const saved = document.createElement("a");
    saved.href = URL.createObjectURL(await response.blob());
    saved.download = link.download;
    saved.click();
    setTimeout(() => URL.revokeObjectURL(saved.href), 60_000);
  } catch (error) {
    showError(error);
  }
}

let preview;
async function playPreview(button) {
  preview?.pause();
  button.disabled = true;
  try {
    hideError();
    const response = await call("GET", `/v1/voices/${encodeURIComponent(button.dataset.preview)}/preview`);
    preview = new Audio(URL.createObjectURL(await response.blob()));
    await preview.play();
  } catch (error) {
    showError(error instanceof Refusal ? error : new Refusal(say("no_preview")));
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest('a[download][href^="/v1/"]');
  if (link) {
    event.preventDefault();
    download(link);
  }
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.copy) copy(byId(button.dataset.copy).textContent, button);
  if (button.dataset.preview) playPreview(button);
});

// The page in the other language is the same one: its address is kept, but for what was just done.
for (const next of document.querySelectorAll(".languages [name=next]")) {
  const asked = new URLSearchParams(location.search);
  asked.delete("done");
  if (`${asked}`) next.value += `?${asked}`;
}

for (const time of document.querySelectorAll("time")) {
  const moment = new Date(time.dateTime);
  if (!Number.isNaN(moment.valueOf())) {
    time.title = time.dateTime;
    time.textContent = moment.toLocaleString(language === "sw" ? "sw-KE" : "en-GB", { dateStyle: "medium", timeStyle: "short" });
  }
}

// On a phone the pages' names scroll sideways: the current one has to be in sight.
// Not by scrollIntoView: the browser would let the first Tab begin here, past the link that skips to the content.
const current = document.querySelector("nav [aria-current]");
if (current) {
  const nav = current.closest("nav");
  nav.scrollLeft = current.offsetLeft - nav.offsetLeft - (nav.clientWidth - current.clientWidth) / 2;
}
