// Hands the microphone's samples over as 16-bit, a fifth of a second at a time.

class Pcm extends AudioWorkletProcessor {
  constructor() {
    super();
    this.size = Math.floor(sampleRate / 5);
    this.filled = 0;
    this.buffer = new Int16Array(this.size);
    this.port.onmessage = () => {
      this.port.postMessage(this.buffer.slice(0, this.filled).buffer);
      this.port.postMessage("end");
      this.filled = 0;
    };
  }

  process([[channel]]) {
    for (const sample of channel ?? []) {
      this.buffer[this.filled++] = Math.max(-1, Math.min(1, sample)) * 32767;
      if (this.filled === this.size) {
        this.port.postMessage(this.buffer.slice().buffer);
        this.filled = 0;
      }
    }
    return true;
  }
}

registerProcessor("pcm", Pcm);
