// A recording from the microphone: kept for playing, measured for the meter, and, where live text
// is wanted, sent as samples while it is spoken.

const KINDS = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"];

export async function open(onLevel) {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true },
  });
  const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
  const recorder = new MediaRecorder(stream, mimeType ? { mimeType } : {});
  const pieces = [];
  recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
  const context = contextFor(stream);
  const source = context.createMediaStreamSource(stream);
  const meter = context.createAnalyser();
  meter.fftSize = 1024;
  source.connect(meter);
  const levels = new Float32Array(meter.fftSize);
  const timer = setInterval(() => {
    meter.getFloatTimeDomainData(levels);
    onLevel(Math.min(1, 4 * Math.sqrt(levels.reduce((sum, x) => sum + x * x, 0) / levels.length)));
  }, 60);
  recorder.start(1000);

  async function stop() {
    clearInterval(timer);
    const ended = new Promise((done) => recorder.addEventListener("stop", done, { once: true }));
    if (recorder.state === "inactive") return new Blob(pieces, { type: recorder.mimeType });
    recorder.stop();
    await ended;
    for (const track of stream.getTracks()) track.stop();
    context.close();
    return new Blob(pieces, { type: recorder.mimeType });
  }
  return { stop, context, source };
}

// 16 kHz is all that is heard, and a third of the bytes; a browser that cannot keeps its own rate.
function contextFor(stream) {
  try {
    const context = new AudioContext({ sampleRate: 16000 });
    context.createMediaStreamSource(stream).disconnect();
    return context;
  } catch {
    return new AudioContext();
  }
}

// Opens the live WebSocket and feeds it. `heard` gets every message; `finish` resolves with the
// last one, or null when the line broke.
export async function listen(microphone, assets, options, heard) {
  const { context, source } = microphone;
  const query = new URLSearchParams({ rate: String(Math.round(context.sampleRate)), ...options });
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/audio/transcriptions/live?${query}`;
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  await context.audioWorklet.addModule(`${assets}/pcm-worklet.js`);
  const worklet = new AudioWorkletNode(context, "pcm", { numberOfOutputs: 0 });
  const waiting = [];
  const send = (data) =>
    socket.readyState === WebSocket.OPEN ? socket.send(data) : socket.readyState === WebSocket.CONNECTING && waiting.push(data);
  worklet.port.onmessage = ({ data }) => send(data === "end" ? JSON.stringify({ type: "finish" }) : data);
  socket.addEventListener("open", () => waiting.splice(0).forEach((data) => socket.send(data)));
  const last = new Promise((done) => {
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "done" || message.type === "error") done(message);
      else heard(message);
    });
    socket.addEventListener("close", () => done(null));
    socket.addEventListener("error", () => done(null));
  });
  source.connect(worklet);
  return {
    finish() {
      worklet.port.postMessage("end");
      return last;
    },
  };
}
