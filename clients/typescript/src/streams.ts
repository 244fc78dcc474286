/** Bodies that come piece by piece. One that breaks off is an error, not an end. */

import { StreamBroken } from "./errors.js";
import { reason, type Stream } from "./transport.js";

export interface ServerEvent {
  type: string;
  [field: string]: unknown;
}

export async function* pieces({ answer, patience }: Stream): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const requestId = answer.headers.get("x-request-id") ?? "";
  try {
    patience.wait();
    for await (const piece of answer.body ?? []) {
      patience.rest();
      yield piece as Uint8Array<ArrayBuffer>;
      patience.wait();
    }
  } catch (error) {
    throw new StreamBroken(`the stream broke off: ${reason(error)}`, "", requestId);
  } finally {
    patience.rest();
  }
}

/** The data of server-sent events, up to the one whose type is `last`. */
export async function* events(stream: Stream, last: string): AsyncGenerator<ServerEvent, void, void> {
  const requestId = stream.answer.headers.get("x-request-id") ?? "";
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const piece of pieces(stream)) {
    buffer += decoder.decode(piece, { stream: true });
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
      if (!data) continue;
      const event = JSON.parse(data) as ServerEvent;
      if (event.type === "error") {
        const told = (event["error"] ?? {}) as { message?: string; code?: string };
        throw new StreamBroken(told.message ?? "the service gave up", told.code ?? "", requestId);
      }
      yield event;
      if (event.type === last) return;
    }
  }
  throw new StreamBroken("the stream ended before its last event", "", requestId);
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
