// Forms and buttons that call the API: data-api="METHOD path".

import { Refusal, byId, call, say, sessionHeaders, showError, hideError } from "./common.js";

function bodyOf(form) {
  const body = {};
  for (const field of form.elements) {
    if (!field.name || field.dataset.kind === "path" || (field.type === "checkbox" && field.dataset.kind !== "list")) continue;
    if (field.dataset.kind === "list") {
      body[field.name] ??= [];
      if (field.checked) body[field.name].push(field.value);
    } else if (field.value.trim() !== "") {
      body[field.name] = valueOf(field);
    }
  }
  return body;
}

function valueOf(field) {
  const text = field.value.trim();
  if (field.dataset.kind === "number") return Number(text);
  // What is no amount goes as it was typed, for the service to refuse.
  if (field.dataset.kind === "money" && /^\d+(\.\d{1,6})?$/.test(text)) return Math.round(Number(text) * 1e6);
  return text;
}

function showSecret(text, note) {
  byId("secret-note").textContent = note;
  byId("secret-text").textContent = text;
  byId("secret").hidden = false;
  document.querySelector(".card.empty")?.remove();
  byId("secret").focus();
}

// The page again, without telling what was done before, in the workspace that was shown: another tab may have chosen another one.
async function show(done) {
  const chosen = {
    csrf: sessionHeaders["X-CSRF-Token"],
    workspace: sessionHeaders["Sauti-Workspace"],
    next: location.pathname,
  };
  await fetch("/console/workspace/switch", { method: "POST", body: new URLSearchParams(chosen), redirect: "manual" }).catch(() => {});
  location.assign(location.pathname + (done ? `?done=${done}` : ""));
}

async function send(element, body, place) {
  const [method, pattern] = element.dataset.api.split(" ");
  // A field may be a part of the address.
  const path = pattern.replace(/\{(\w+)\}/, (_, name) => encodeURIComponent(element.elements[name].value.trim()));
  hideError(place);
  try {
    const response = await call(method, path, body);
    const answer = response.headers.get("Content-Type")?.includes("json") ? await response.json() : {};
    const secret = answer.api_key ?? answer.secret;
    if (secret) showSecret(secret, element.dataset.secret);
    else await show(element.dataset.done);
    return true;
  } catch (error) {
    showError(error, place);
    return false;
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.api) return;
  event.preventDefault();
  const button = form.querySelector("button:not([type=button])");
  const own = form.querySelector("[role=alert]");
  const body = bodyOf(form);
  const empty = Object.keys(body).find((name) => Array.isArray(body[name]) && body[name].length === 0);
  if (empty) return showError(new Refusal(say(`field_${empty}`)), own);
  button.disabled = true;
  const done = await send(form, body, own ?? byId("error"));
  // A refusal elsewhere on the page: this form is a single choice, and shows again what holds.
  if (done || !own) form.reset();
  button.disabled = false;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("reload" in button.dataset) show();
  if (button.dataset.api && confirm(button.dataset.confirm)) send(button, undefined, byId("error"));
});
