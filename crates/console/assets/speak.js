import { byId, call, clock, copy, hideError, money, say, showError } from "./common.js";
import { draw, flat, peaksOf } from "./wave.js";
import { load, save } from "./history.js";

const form = byId("speak");
const text = byId("text");
const audio = new Audio();
let peaks = flat();
let shownWords = [];
let looking;

const voice = () => form.elements.voice.value;
const slider = (id) => Number(byId(id).value);
const speed = () => slider("speed");
const language = () => byId("language").value;

// A voice says about this many sounds a second, pauses included.
const PHONEMES_PER_SECOND = 11;

function secondsOf(wordList) {
  const sounds = wordList.reduce((sum, word) => sum + [...word.phonemes].filter((c) => c !== "ˈ").length, 0);
  return sounds / PHONEMES_PER_SECOND / speed();
}

// A text that is too long is not cut: whoever pasted it sees by how much, and the service says so.
function counted() {
  const count = [...text.value.trim()].length;
  const most = Number(text.dataset.charactersMax);
  return count > most ? `${count} / ${most}` : count;
}

async function look() {
  looking?.abort();
  looking = new AbortController();
  const { signal } = looking;
  showCurl();
  byId("characters").textContent = counted();
  if (!text.value.trim()) return showNothing();
  try {
    const body = { text: text.value, language: language() };
    const [read, quote] = await Promise.all([
      call("POST", "/v1/normalise", body, { signal }).then((answer) => answer.json()),
      call("POST", "/v1/quotes", body, { signal }).then((answer) => answer.json()),
    ]);
    byId("said").textContent = read.text;
    byId("said").className = "";
    const english = [...new Set(read.words.filter((word) => word.english).map((word) => word.word))];
    byId("english").textContent = english.length ? say("english", english.join(", ")) : "";
    byId("price").textContent = money(quote.cost_micro);
    byId("characters").textContent = quote.units;
    byId("length").textContent = say("about", Math.max(1, Math.round(secondsOf(read.words))));
  } catch (error) {
    if (error.name !== "AbortError") showNothing();
    showError(error);
  }
}

// A change of the language loads the page anew, and loses no text.
const DRAFT = "draft";
for (const chosen of document.querySelectorAll(".languages")) {
  chosen.addEventListener("submit", () => sessionStorage.setItem(DRAFT, text.value));
}
function draft() {
  text.value = sessionStorage.getItem(DRAFT) ?? text.value;
  sessionStorage.removeItem(DRAFT);
}

// A fragment never leaves the browser: another page hands a text over by it.
function textFromAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1)).get("text");
  if (wanted) text.value = wanted;
}

function showNothing() {
  byId("said").textContent = byId("said").dataset.empty;
  byId("said").className = "quiet";
  byId("english").textContent = "";
  for (const id of ["price", "length"]) byId(id).textContent = "–";
}

function showCurl() {
  const body = { text: text.value.trim(), voice_id: voice(), output_format: byId("format").value };
  if (speed() !== 1) body.speed = speed();
  for (const id of ["pitch", "volume"]) if (slider(id)) body[id] = slider(id);
  if (language() !== "sw") body.language = language();
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  byId("curl").textContent =
    `curl -sS '${form.dataset.baseUrl}/v1/audio/speech' \\\n  -H 'Authorization: Bearer YOUR_KEY' \\\n  -H 'Content-Type: application/json' \\\n  -d '${quoted}' \\\n  -o sauti.${extension(body.output_format)}`;
}

function extension(format) {
  const known = { mp3: "mp3", opus: "ogg", flac: "flac" };
  return known[format.split("_")[0]] ?? "wav";
}

async function speak(event) {
  event.preventDefault();
  hideError();
  const button = byId("go");
  const label = button.textContent;
  button.disabled = true;
  button.textContent = say("speaking");
  try {
    const order = { text: text.value, voice_id: voice(), output_format: byId("format").value, speed: speed(), pitch: slider("pitch"), volume: slider("volume"), language: language(), verbose: true };
    const response = await call("POST", "/v1/audio/speech", order);
    const answer = await response.json();
    const cost = Number(response.headers.get("Sauti-Cost"));
    const cached = response.headers.get("Sauti-Cache") === "hit";
    const item = {
      order,
      cost,
      cached,
      words: answer.words,
      seconds: answer.seconds,
      type: answer.content_type,
      sound: answer.audio,
    };
    remember(item);
    await show(item);
    byId("result").scrollIntoView({ block: "nearest" });
  } catch (error) {
    showError(error);
  } finally {
    button.disabled = false;
    button.textContent = label;
  }
}

async function show(item) {
  const bytes = Uint8Array.from(atob(item.sound), (c) => c.charCodeAt(0));
  audio.pause();
  URL.revokeObjectURL(audio.src);
  audio.src = URL.createObjectURL(new Blob([bytes], { type: item.type }));
  byId("play").disabled = false;
  byId("download").hidden = false;
  byId("download").href = audio.src;
  byId("download").download = `sauti-${item.order.voice_id}.${extension(item.order.output_format)}`;
  byId("cost").textContent = `${say("cost", money(item.cost))}${item.cached ? ` · ${say("cached")}` : ""}`;
  byId("spoken").replaceChildren(
    ...item.words.flatMap((word) => {
      const span = document.createElement("span");
      span.textContent = word.word;
      return [span, " "];
    }),
  );
  shownWords = item.words.map((word, i) => ({ ...word, span: byId("spoken").children[i] }));
  byId("clock").textContent = clock(item.seconds);
  peaks = await peaksOf(bytes.buffer, 110).catch(flat);
  paint();
  audio.play().catch((error) => {
    if (error.name === "NotSupportedError") byId("cost").textContent += ` · ${say("not_playable")}`;
  });
}

function paint() {
  const length = audio.duration || 1;
  draw(byId("wave"), peaks, audio.currentTime / length);
  const now = wordAt(audio.currentTime);
  for (const word of shownWords) light(word, word === now);
  if (Number.isFinite(audio.duration)) byId("clock").textContent = `${clock(audio.currentTime)} / ${clock(audio.duration)}`;
  if (!audio.paused) requestAnimationFrame(paint);
}

// A word stays lit over the short gap to the next one, and where the sound is paused.
function wordAt(seconds) {
  const begun = seconds > 0 && !audio.ended ? shownWords.findLast((word) => word.start <= seconds) : undefined;
  return begun && seconds < begun.end + 0.3 ? begun : undefined;
}

function light(word, is) {
  if (is === word.span.classList.contains("lit")) return;
  word.span.classList.toggle("lit", is);
  // Only the box scrolls, never the page.
  const box = byId("spoken");
  if (is) box.scrollTop = word.span.offsetTop - box.offsetTop - box.clientHeight / 2;
}

function showState() {
  byId("play").firstElementChild.className = audio.paused ? "i-play" : "i-pause";
  byId("play").setAttribute("aria-label", say(audio.paused ? "play" : "pause"));
  paint();
}

const spoken = load();
function remember(item) {
  spoken.unshift(item);
  spoken.splice(20);
  save(spoken);
  showHistory();
}

function showHistory() {
  byId("history-empty").hidden = spoken.length > 0;
  byId("history").replaceChildren(...spoken.map(historyItem));
}

function historyItem(item) {
  const li = document.createElement("li");
  const line = document.createElement("p");
  line.textContent = item.order.text.length > 90 ? `${item.order.text.slice(0, 90)}…` : item.order.text;
  const facts = document.createElement("span");
  facts.className = "quiet";
  facts.textContent = `${item.order.voice_id} · ${money(item.cost)}`;
  const row = document.createElement("p");
  row.className = "row";
  if (item.sound) row.append(button(say("play"), () => show(item)));
  row.append(button(say("again"), () => use(item)));
  li.append(line, facts, row);
  return li;
}

function button(label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "small";
  made.textContent = label;
  made.addEventListener("click", act);
  return made;
}

function use(item) {
  text.value = item.order.text;
  form.elements.voice.value = item.order.voice_id;
  byId("format").value = item.order.output_format;
  byId("speed").value = item.order.speed;
  for (const id of ["pitch", "volume"]) byId(id).value = item.order[id] ?? 0;
  byId("language").value = item.order.language ?? "sw";
  showDirection();
  hideError();
  look();
  text.focus();
}

function showDirection() {
  byId("speed-shown").textContent = `${speed().toFixed(2).replace(/0$/, "")}×`;
  for (const [id, unit] of [["pitch", "st"], ["volume", "dB"]]) byId(`${id}-shown`).textContent = `${slider(id) > 0 ? "+" : ""}${slider(id)} ${unit}`;
}

// A refusal stays until something is changed: a look that is still under way must not take it away.
let waiting;
function lookSoon() {
  hideError();
  clearTimeout(waiting);
  waiting = setTimeout(look, 350);
}

form.addEventListener("submit", speak);
form.addEventListener("input", () => {
  showDirection();
  lookSoon();
});
byId("play").addEventListener("click", () => (audio.paused ? audio.play() : audio.pause()));
for (const name of ["play", "pause", "ended", "loadedmetadata", "seeked"]) audio.addEventListener(name, showState);
byId("wave").addEventListener("click", (event) => {
  if (Number.isFinite(audio.duration)) audio.currentTime = (event.offsetX / byId("wave").clientWidth) * audio.duration;
});
addEventListener("resize", paint);
addEventListener("hashchange", () => {
  textFromAddress();
  hideError();
  look();
});
draft();
textFromAddress();
showHistory();
paint();
look();
