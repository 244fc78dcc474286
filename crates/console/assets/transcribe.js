import { byId, clock, copy, hideError, money, Refusal, refusal, say, sessionHeaders, showBalance, showError } from "./common.js";
import { files, who } from "./subtitles.js";
import * as microphone from "./microphone.js";

const UNSURE_BELOW = 0.6;
const assets = new URL(".", import.meta.url).pathname.replace(/\/$/, "");
const audio = byId("audio");
let transcript;
let shownWords = [];
let recording;
let sending;

function busy(is, text = "", percent) {
  byId("progress-row").hidden = !is;
  byId("cancel").hidden = !(is && sending);
  if (percent === undefined) byId("progress").removeAttribute("value");
  else byId("progress").value = percent;
  byId("status").textContent = text;
  byId("file").disabled = is;
  byId("record").disabled = is;
}

function showResult(is) {
  byId("result").hidden = !is;
  byId("empty").hidden = is;
}

function terms() {
  return byId("keyterms")
    .value.split(",")
    .map((term) => term.trim())
    .filter(Boolean);
}

function vocabulary() {
  return document.getElementById("vocabulary")?.value;
}

function play(blob) {
  if (audio.src) URL.revokeObjectURL(audio.src);
  audio.src = URL.createObjectURL(blob);
}

async function upload(file) {
  hideError();
  showResult(false);
  const form = new FormData();
  form.append("file", file, file.name || "recording");
  form.append("stream", "true");
  form.append("timestamp_granularities[]", "word");
  form.append("numerals", byId("numerals").value);
  for (const term of terms()) form.append("keyterms[]", term);
  if (vocabulary()) form.append("vocabulary", vocabulary());
  const speakers = byId("speakers").value;
  if (speakers === "diarize") form.append("diarize", "true");
  if (speakers === "channels") form.append("channels", "separate");
  const heard = { segments: [], seconds: 0 };
  try {
    const done = await post(form, {
      sent: (part) =>
        busy(true, part < 1 ? say("uploading", Math.round(part * 100)) : say("listening"), part < 1 ? part * 100 : undefined),
      length: (seconds) => {
        // Each side of a call is charged.
        heard.seconds = speakers === "channels" ? seconds / 2 : seconds;
      },
      segment: (event) => {
        const { start, end, speaker, channel, words = [] } = event;
        heard.segments.push({ start, end, speaker, channel, text: event.delta.trim(), words });
        showSoFar(heard, event.done_seconds);
      },
    });
    play(file);
    show(
      { text: done.text, duration: heard.seconds, segments: heard.segments.filter((segment) => segment.text) },
      done.usage.cost_micro,
    );
    showBalance(done.usage.balance_micro);
  } catch (error) {
    if (!heard.segments.length) showResult(false);
    showError(error);
  } finally {
    sending = undefined;
    busy(false);
    byId("file").value = "";
  }
}

// A long recording shows its words while the rest is still being heard.
function showSoFar(heard, doneSeconds) {
  const done = Math.min(doneSeconds, heard.seconds);
  busy(true, say("heard", clock(done), clock(heard.seconds)), (100 * done) / heard.seconds);
  showResult(true);
  transcript = { text: "", segments: [], words: [] };
  shownWords = [];
  byId("cost").textContent = "";
  byId("transcript").replaceChildren(...heard.segments.map((segment) => paragraph(segment)));
}

// XMLHttpRequest, for fetch does not tell how much was sent. The answer comes as events.
function post(form, on) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    sending = request;
    request.open("POST", "/v1/audio/transcriptions");
    for (const [name, value] of Object.entries(sessionHeaders)) request.setRequestHeader(name, value);
    let read = 0;
    function readEvents() {
      if (request.status !== 200) return;
      for (let end; (end = request.responseText.indexOf("\n\n", read)) >= 0; read = end + 2) {
        const data = request.responseText
          .slice(read, end)
          .split("\n")
          .find((line) => line.startsWith("data: "));
        const event = data ? JSON.parse(data.slice(6)) : {};
        if (event.type === "transcript.text.delta") on.segment(event);
        if (event.type === "transcript.text.done") done(event);
        if (event.type === "error") fail(refusal(500, event.error));
      }
    }
    on.sent(0);
    request.upload.addEventListener("progress", (event) => on.sent(event.loaded / event.total));
    request.addEventListener("readystatechange", () => {
      if (request.readyState === XMLHttpRequest.HEADERS_RECEIVED) on.length(Number(request.getResponseHeader("Sauti-Units")));
    });
    request.addEventListener("progress", readEvents);
    request.addEventListener("error", () => fail(new Refusal(say("error_network"))));
    request.addEventListener("abort", () => fail(new DOMException("left", "AbortError")));
    request.addEventListener("load", () => {
      readEvents();
      if (request.status === 200) return fail(new Refusal(say("error_network")));
      let problem = {};
      try {
        problem = JSON.parse(request.responseText);
      } catch {
        /* told by the status */
      }
      fail(refusal(request.status, problem, request.getResponseHeader("Retry-After")));
    });
    request.send(form);
  });
}

function show(answer, cost) {
  transcript = {
    text: answer.text,
    duration: answer.duration,
    segments: answer.segments,
    words: answer.segments.flatMap((segment) => segment.words),
  };
  showResult(true);
  byId("hint").hidden = transcript.words.length === 0;
  byId("cost").textContent = say("cost", money(cost));
  shownWords = [];
  const box = byId("transcript");
  if (!transcript.text) {
    box.replaceChildren(say("no_speech"));
    return;
  }
  box.replaceChildren(...transcript.segments.map((segment) => paragraph(segment)));
}

function paragraph(segment) {
  const p = document.createElement("p");
  const stamp = document.createElement("span");
  stamp.className = "stamp";
  stamp.textContent = [clock(segment.start), who(segment)].filter(Boolean).join(" ");
  p.append(stamp);
  const own = segment.words;
  const written = segment.text.split(/\s+/).filter(Boolean);
  // Where each heard word is one written word, show it as written, with capitals and stops.
  const same = written.length === own.length;
  if (!own.length) p.append(segment.text);
  own.forEach((word, i) => p.append(wordButton(word, same ? written[i] : word.word), " "));
  return p;
}

function wordButton(word, text) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  if (word.confidence < UNSURE_BELOW) {
    button.className = "unsure";
    button.title = `${say("uncertain")} (${Math.round(word.confidence * 100)} %)`;
  }
  button.addEventListener("click", () => {
    audio.currentTime = word.start;
    audio.play();
  });
  shownWords.push({ ...word, button });
  return button;
}

audio.addEventListener("timeupdate", () => {
  for (const word of shownWords)
    word.button.classList.toggle("lit", !audio.paused && audio.currentTime >= word.start && audio.currentTime < word.end);
});

async function startRecording() {
  hideError();
  if (!navigator.mediaDevices) return showError(new Refusal(say("needs_https")));
  try {
    recording = await microphone.open((level) => {
      byId("meter").value = level;
    });
  } catch {
    return showError(new Refusal(say("no_microphone")));
  }
  const started = Date.now();
  byId("meter-row").hidden = false;
  byId("record").textContent = byId("record").dataset.stop;
  showResult(false);
  recording.timer = setInterval(() => {
    byId("timer").textContent = clock((Date.now() - started) / 1000);
  }, 250);
  if (byId("live").checked) recording.live = await startLive().catch(() => null);
}

async function startLive() {
  const heard = { segments: [], partial: "" };
  const paint = () => {
    const partial = document.createElement("p");
    partial.className = "partial";
    partial.textContent = heard.partial;
    byId("transcript").replaceChildren(...heard.segments.map((segment) => paragraph(segment)), partial);
  };
  showResult(true);
  byId("cost").textContent = "";
  transcript = { text: "", segments: [], words: [] };
  shownWords = [];
  paint();
  const options = { numerals: byId("numerals").value };
  if (terms().length) options.keyterms = terms().join(",");
  if (vocabulary()) options.vocabulary = vocabulary();
  const line = await microphone.listen(recording, assets, options, (message) => {
    if (message.type === "partial") heard.partial = message.text;
    if (message.type === "final") {
      heard.segments.push(message.segment);
      heard.partial = "";
    }
    paint();
  });
  return { line, heard };
}

async function stopRecording() {
  const { live, timer } = recording;
  clearInterval(timer);
  byId("record").textContent = byId("record").dataset.record;
  busy(true, say("listening"));
  const last = live ? await Promise.race([live.line.finish(), new Promise((done) => setTimeout(done, 20000, null))]) : null;
  const sound = await recording.stop();
  recording = undefined;
  byId("meter-row").hidden = true;
  busy(false);
  if (last?.type === "error") {
    showResult(false);
    return showError(refusal(last.status, { code: last.code, detail: last.message }));
  }
  // Nothing came over the line: send the recording as a file instead.
  if (!last) return upload(sound);
  play(sound);
  const { segments } = live.heard;
  showBalance(last.balance_micro);
  show({ text: last.text, duration: last.seconds, segments }, last.cost_micro);
}

byId("record").addEventListener("click", () => (recording ? stopRecording() : startRecording()));
byId("cancel").addEventListener("click", () => sending?.abort());
byId("file").addEventListener("change", () => byId("file").files[0] && upload(byId("file").files[0]));
byId("transcribe").addEventListener("submit", (event) => event.preventDefault());
byId("copy").addEventListener("click", () => copy(transcript.text, byId("copy")));

const drop = byId("drop");
for (const name of ["dragenter", "dragover"])
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]);
});

for (const link of document.querySelectorAll("[data-save]")) {
  link.href = "#";
  link.addEventListener("click", () => {
    const [type, content] = files[link.dataset.save](transcript);
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = `sauti.${link.dataset.save}`;
  });
}
