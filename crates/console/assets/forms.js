// Forms and buttons that call the API: data-api="METHOD path".

import { byId, call, showError, hideError } from "./common.js";

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
  if (field.dataset.kind === "number") return Number.parseInt(field.value, 10);
  if (field.dataset.kind === "money") return Math.round(Number(field.value) * 1e6);
  return field.value.trim();
}

function showSecret(text, note) {
  byId("secret-note").textContent = note;
  byId("secret-text").textContent = text;
  byId("secret").hidden = false;
  document.querySelector(".card.empty")?.remove();
  byId("secret").focus();
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
    else location.reload();
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
  const button = form.querySelector("button.primary");
  button.disabled = true;
  if (await send(form, bodyOf(form), form.querySelector("[role=alert]"))) form.reset();
  button.disabled = false;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("reload" in button.dataset) location.reload();
  if (button.dataset.api && confirm(button.dataset.confirm)) send(button, undefined, byId("error"));
});

document.addEventListener("change", (event) => {
  const select = event.target;
  if (select.matches("select[data-api]")) send(select, { [select.name]: select.value }, byId("error"));
});
