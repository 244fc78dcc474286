// A waveform on a canvas: peaks once, then only how far the sound has played.

// Nothing to hear yet.
export const flat = () => new Array(110).fill(0.04);

export async function peaksOf(bytes, count) {
  const context = new OfflineAudioContext(1, 1, 24000);
  const sound = await context.decodeAudioData(bytes);
  const samples = sound.getChannelData(0);
  const step = Math.max(1, Math.floor(samples.length / count));
  const peaks = [];
  for (let i = 0; i < count; i++) {
    let peak = 0;
    for (let j = i * step; j < Math.min((i + 1) * step, samples.length); j++) peak = Math.max(peak, Math.abs(samples[j]));
    peaks.push(peak);
  }
  const most = Math.max(...peaks, 0.01);
  return peaks.map((peak) => peak / most);
}

export function draw(canvas, peaks, played) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = getComputedStyle(canvas).color;
  const step = width / peaks.length;
  peaks.forEach((peak, i) => {
    const tall = Math.max(2, peak * (height - 4));
    pen.globalAlpha = (i + 0.5) / peaks.length <= played ? 1 : 0.35;
    pen.fillRect(i * step, (height - tall) / 2, Math.max(1, step - 1.5), tall);
  });
  pen.globalAlpha = 1;
}
