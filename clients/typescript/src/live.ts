/** Live transcription over a WebSocket. */

import { ConnectionFailed, StreamBroken, refusal } from "./errors.js";
import { camelCased, type LiveEvent } from "./models.js";

/** Node's own, or that of the package `ws`: both take headers. The browser's does not, and a key has no business there. */
export type WebSocketClass = new (url: string, init: { headers: Record<string, string> }) => object;

/** The service takes 256 KiB in one message. A multiple of four, so that no sample of two channels is parted. */
const MESSAGE_BYTES_MAX = 128 * 1024;

type Told = LiveEvent | { type: "error"; status: number; code: string; message: string };

/** Send sound with `send`, say `finish` at the end, and iterate for what is heard. */
export class LiveTranscription implements AsyncIterable<LiveEvent> {
  private readonly heard: (LiveEvent | Error)[] = [];
  private wake: () => void = () => {};
  private ended = false;

  private constructor(private readonly socket: WebSocket) {
    socket.binaryType = "arraybuffer";
    socket.onmessage = (message) => this.understand(camelCased<Told>(JSON.parse(String(message.data))));
    socket.onclose = () => this.end(new StreamBroken("the connection ended before the text did"));
  }

  /** Rejects where the door does not open; WebSocket does not tell why. */
  static open(Socket: WebSocketClass, url: string, headers: Record<string, string>, timeoutSeconds: number): Promise<LiveTranscription> {
    const socket = new Socket(url.replace(/^http/, "ws"), { headers }) as WebSocket;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new ConnectionFailed(`no answer from ${new URL(url).host} in ${timeoutSeconds} seconds`));
        socket.close();
      }, timeoutSeconds * 1000);
      socket.onopen = () => {
        clearTimeout(late);
        resolve(new LiveTranscription(socket));
      };
      socket.onerror = () => {
        clearTimeout(late);
        reject(new StreamBroken("the live connection was refused"));
      };
    });
  }

  /** 16-bit little-endian mono samples. */
  send(samples: Uint8Array): void {
    for (let start = 0; start < samples.length; start += MESSAGE_BYTES_MAX) {
      this.socket.send(new Uint8Array(samples.subarray(start, start + MESSAGE_BYTES_MAX)));
    }
  }

  /** No more sound will come; the rest of the text still does. */
  finish(): void {
    this.socket.send(JSON.stringify({ type: "finish" }));
  }

  /** Hangs up. Before the end, that throws the transcription away. */
  close(): void {
    this.socket.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent, void, void> {
    for (;;) {
      const event = this.heard.shift();
      if (event instanceof Error) throw event;
      if (event) yield event;
      else if (this.ended) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private understand(told: Told): void {
    if (told.type === "error") return this.end(refusal(told.status, { code: told.code, detail: told.message }));
    this.heard.push(told);
    if (told.type === "done") this.end();
    this.wake();
  }

  private end(error?: Error): void {
    if (this.ended) return;
    this.ended = true;
    if (error) this.heard.push(error);
    this.wake();
  }
}
