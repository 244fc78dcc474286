/** HTTP with retries. Knows nothing of speech. */

import { APIError, ConflictError, ConnectionFailed, RateLimited, ServerError, refusal, type Problem } from "./errors.js";

const PAUSE_FIRST_S = 0.5;
const PAUSE_MAX_S = 30;

export interface TransportOptions {
  url: string;
  key: string;
  timeoutSeconds: number;
  retriesMax: number;
  language: string | undefined;
  sleep: (seconds: number) => Promise<void>;
}

export interface Stream {
  answer: Response;
  patience: Patience;
}

/** Gives up on what it has waited for too long. A stream may last as long as whoever plays it likes, as long as it goes on. */
export class Patience {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly seconds: number) {
    this.wait();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  wait(): void {
    const late = new DOMException(`nothing came for ${this.seconds} seconds`, "TimeoutError");
    this.timer = setTimeout(() => this.controller.abort(late), this.seconds * 1000);
  }

  rest(): void {
    clearTimeout(this.timer);
  }
}

export class Transport {
  readonly headers: Record<string, string>;

  constructor(readonly options: TransportOptions) {
    this.headers = { Authorization: `Bearer ${options.key}` };
    if (options.language) this.headers["Accept-Language"] = options.language;
  }

  /** The whole answer. Whatever may pass by itself is tried again. */
  async request(method: string, path: string, body?: BodyInit, headers: Record<string, string> = {}) {
    return this.tried(true, async () => {
      const answer = await this.opened(method, path, body, headers, AbortSignal.timeout(this.options.timeoutSeconds * 1000));
      return { headers: answer.headers, body: new Uint8Array(await this.readAll(answer)) };
    });
  }

  /** An answer whose body is still to come. Only refusals before any work (429 and 503) are tried again. */
  stream(method: string, path: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Stream> {
    return this.tried(false, async () => {
      const patience = new Patience(this.options.timeoutSeconds);
      try {
        return { answer: await this.opened(method, path, body, headers, patience.signal), patience };
      } finally {
        patience.rest();
      }
    });
  }

  private async tried<T>(retry: boolean, attempt: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        const pause = this.pauseBeforeRetry(error, tries, retry);
        if (pause === undefined) throw error;
        await this.options.sleep(pause);
      }
    }
  }

  /** Seconds to wait; undefined where trying again is no use. */
  private pauseBeforeRetry(error: unknown, tries: number, retry: boolean): number | undefined {
    const refusedEarly = error instanceof RateLimited || (error instanceof APIError && error.status === 503);
    const inFlight = error instanceof ConflictError && error.code === "idempotency_in_flight";
    const passing = error instanceof ConnectionFailed || error instanceof ServerError || inFlight;
    if (tries >= this.options.retriesMax || !(refusedEarly || (retry && passing))) return undefined;
    const told = error instanceof APIError ? error.retryAfterSeconds : undefined;
    // Without a word from the server, wait longer each time, and not in step with others.
    const growing = Math.min(PAUSE_MAX_S, PAUSE_FIRST_S * 2 ** tries) * (0.75 + 0.25 * Math.random());
    return told === undefined ? growing : Math.min(told, this.options.timeoutSeconds);
  }

  private async opened(
    method: string, path: string, body: BodyInit | undefined, headers: Record<string, string>, signal: AbortSignal,
  ): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(this.options.url + path, {
        method,
        headers: { ...this.headers, ...headers },
        body: body ?? null,
        redirect: "error",
        signal,
      });
    } catch (error) {
      throw new ConnectionFailed(`no answer from ${this.options.url}: ${reason(error)}`);
    }
    if (answer.ok) return answer;
    const text = new TextDecoder().decode(await this.readAll(answer));
    throw refusal(answer.status, problemOf(text), retryAfter(answer.headers.get("retry-after")));
  }

  private async readAll(answer: Response): Promise<ArrayBuffer> {
    try {
      return await answer.arrayBuffer();
    } catch (error) {
      throw new ConnectionFailed(`the answer of ${this.options.url} broke off: ${reason(error)}`);
    }
  }
}

export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** The refusal's JSON; a proxy on the way may have answered with something else. */
function problemOf(text: string): Problem {
  try {
    const problem: unknown = JSON.parse(text);
    return typeof problem === "object" && problem !== null ? (problem as Problem) : {};
  } catch {
    return {};
  }
}

/** Seconds, or a date as HTTP allows too. */
function retryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = Number(value);
  if (!Number.isNaN(seconds)) return Math.max(0, seconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
