/** The client: one method for each thing the service does. */

import { ConnectionFailed, InvalidRequest, SautiError } from "./errors.js";
import { LiveTranscription, type WebSocketClass } from "./live.js";
import {
  camelCased, type Alternative, type Balance, type Charge, type ExpectedAnswer, type Limits, type Mark, type Quote, type Segment, type Speech, type SpeechPiece,
  type TimedSpeech, type Transcript, type TranscriptPiece, type Usage, type Voice, type Word,
} from "./models.js";
import { events, fromBase64, pieces } from "./streams.js";
import { Transport } from "./transport.js";

export interface SautiOptions {
  url?: string;
  key: string;
  /** The longest a whole answer may take, and of a stream the longest until its next piece. */
  timeoutSeconds?: number;
  /** How often a request that failed in passing is tried again. */
  retriesMax?: number;
  /** `sw` for refusals in Swahili. */
  language?: string;
  /** For `live` where Node brings none along (before 22): that of the package `ws`. */
  WebSocket?: WebSocketClass;
  sleep?: (seconds: number) => Promise<void>;
}

export interface SpeakOptions {
  outputFormat?: string;
  speed?: number;
  /** Semitones above the voice's own pitch. */
  pitch?: number;
  /** Decibels above the loudness of all speech. */
  volume?: number;
  ssml?: boolean;
  /** Swahili with English words in it where it is missing. */
  language?: "sw" | "en" | "auto";
  /** The same key again gives the same answer and costs nothing more. Not for streams. */
  idempotencyKey?: string;
}

export interface TranscribeOptions {
  name?: string;
  contentType?: string;
  words?: boolean;
  keyterms?: string[];
  numerals?: "words" | "digits";
  expect?: "any" | "digits" | "yes_no" | "amount";
  choices?: string[];
  /** What is spoken, where it is known. */
  language?: "sw" | "en" | "auto";
  /** What the recording is about. */
  prompt?: string;
  /** `separate` hears the two sides of a call each for itself. */
  channels?: "mixed" | "separate";
  /** Tell one to six people apart. */
  diarize?: boolean;
  /** What subtitles call the two sides. */
  channelNames?: string[];
  /** The name of a vocabulary of the workspace. */
  vocabulary?: string;
  /** 1 to 10: so many readings, best first. */
  alternatives?: number;
  idempotencyKey?: string;
}

export type LiveOptions = Pick<TranscribeOptions, "keyterms" | "numerals" | "expect" | "choices" | "language" | "prompt" | "channels" | "vocabulary" | "alternatives"> & {
  /** Of `pcm`; 16000 if absent. */
  rateHz?: number;
  /** `pcm` if absent; G.711 comes at 8000 samples a second. */
  encoding?: "pcm" | "ulaw" | "alaw";
};

export type Recording = Blob | ArrayBuffer | Uint8Array;

const JSON_TYPE = { "Content-Type": "application/json" };

export class Sauti {
  private readonly transport: Transport;
  private readonly WebSocket: WebSocketClass | undefined;

  constructor(options: SautiOptions) {
    if (!options.key) throw new TypeError("no key");
    this.WebSocket = options.WebSocket ?? (globalThis.WebSocket as unknown as WebSocketClass | undefined);
    this.transport = new Transport({
      url: (options.url ?? "http://127.0.0.1:8080").replace(/\/+$/, ""),
      key: options.key,
      timeoutSeconds: options.timeoutSeconds ?? 120,
      retriesMax: options.retriesMax ?? 4,
      language: options.language,
      sleep: options.sleep ?? ((seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))),
    });
  }

  async speak(text: string, voiceId: string, options: SpeakOptions = {}): Promise<Speech> {
    const answer = await this.post("/v1/audio/speech", speechBody(text, voiceId, options), options.idempotencyKey, JSON_TYPE);
    return { audio: answer.body, contentType: answer.headers.get("content-type") ?? "", charge: chargeOf(answer.headers) };
  }

  /** Speaks and tells when each word is said and each mark of SSML is reached. */
  async speakTimed(text: string, voiceId: string, options: SpeakOptions = {}): Promise<TimedSpeech> {
    const body = speechBody(text, voiceId, options, { timestamps: true });
    const answer = await this.post("/v1/audio/speech", body, options.idempotencyKey, JSON_TYPE);
    const told = json<{ audio: string; contentType: string; seconds: number; normalisedText: string; words: Word[]; marks?: Mark[] }>(answer.body);
    const { contentType, seconds, normalisedText, words, marks = [] } = told;
    return { audio: fromBase64(told.audio), contentType, charge: chargeOf(answer.headers), seconds, normalisedText, words, marks };
  }

  /** The sound while it is made. Throws StreamBroken where it ends too early. */
  async *speakStream(text: string, voiceId: string, options: SpeakOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
    const body = speechBody(text, voiceId, { outputFormat: "pcm_24000", ...options }, { stream: "audio" });
    yield* pieces(await this.transport.stream("POST", "/v1/audio/speech", body, JSON_TYPE));
  }

  /** The sound while it is made, with the words in it and their times. */
  async *speakEvents(text: string, voiceId: string, options: SpeakOptions = {}): AsyncGenerator<SpeechPiece, void, void> {
    const body = speechBody(text, voiceId, { outputFormat: "pcm_24000", ...options }, { stream: "sse", timestamps: true });
    const stream = await this.transport.stream("POST", "/v1/audio/speech", body, JSON_TYPE);
    for await (const event of events(stream, "speech.audio.done")) {
      if (event.type === "speech.audio.delta") {
        yield { audio: fromBase64(String(event["audio"])), words: (event["words"] ?? []) as Word[], marks: (event["marks"] ?? []) as Mark[] };
      }
    }
  }

  async transcribe(recording: Recording, options: TranscribeOptions = {}): Promise<Transcript> {
    const form = formOf(recording, options, { response_format: "verbose_json" });
    form.append("timestamp_granularities[]", "segment");
    if (options.words) form.append("timestamp_granularities[]", "word");
    if (options.alternatives) form.append("alternatives", String(options.alternatives));
    const answer = await this.post("/v1/audio/transcriptions", form, options.idempotencyKey);
    const told = json<{ text: string; duration: number; noSpeech: boolean; segments?: Segment[]; words?: Word[]; alternatives?: Alternative[] } & ExpectedAnswer>(answer.body);
    const { text, duration, noSpeech, segments = [], words = [], alternatives = [] } = told;
    return { text, seconds: duration, noSpeech, segments, words, alternatives, ...expectedAnswer(told), charge: chargeOf(answer.headers) };
  }

  /** Subtitles of a recording. */
  async subtitles(recording: Recording, kind: "srt" | "vtt" = "srt", options: TranscribeOptions = {}): Promise<string> {
    const answer = await this.post("/v1/audio/transcriptions", formOf(recording, options, { response_format: kind }), options.idempotencyKey);
    return new TextDecoder().decode(answer.body);
  }

  /** The text segment by segment while the recording is heard; the last piece has the whole. */
  async *transcribeStream(recording: Recording, options: TranscribeOptions = {}): AsyncGenerator<TranscriptPiece, void, void> {
    const form = formOf(recording, options, { stream: "true" });
    const stream = await this.transport.stream("POST", "/v1/audio/transcriptions", form);
    for await (const event of events(stream, "transcript.text.done")) {
      if (event.type === "transcript.text.delta") {
        yield { text: String(event["delta"]), start: Number(event["start"]), end: Number(event["end"]), isLast: false };
      } else if (event.type === "transcript.text.done") {
        const done = camelCased<{ text: string; usage: { seconds: number; costMicro: number; balanceMicro: number } } & ExpectedAnswer>(event);
        const { seconds, costMicro, balanceMicro } = done.usage;
        yield { text: done.text, start: 0, end: 0, isLast: true, seconds, costMicro, balanceMicro, ...expectedAnswer(done) };
      }
    }
  }

  /** Hears while somebody speaks. */
  async live(options: LiveOptions = {}): Promise<LiveTranscription> {
    const isG711 = options.encoding === "ulaw" || options.encoding === "alaw";
    const query = new URLSearchParams(isG711 ? { encoding: String(options.encoding) } : { rate: String(options.rateHz ?? 16_000) });
    for (const [name, value] of oneValue(options)) query.set(name, value);
    // One by one: a choice such as "KSh 1,000" has a comma of its own.
    for (const term of options.keyterms ?? []) query.append("keyterms[]", term);
    for (const choice of options.choices ?? []) query.append("choices[]", choice);
    if (options.alternatives) query.set("alternatives", String(options.alternatives));
    const path = `/v1/audio/transcriptions/live?${query}`;
    if (!this.WebSocket) {
      throw new SautiError('live needs a WebSocket, which Node has from version 22 on; before it, npm install ws and new Sauti({ WebSocket, ... }) with import { WebSocket } from "ws"');
    }
    const { options: { url, timeoutSeconds }, headers } = this.transport;
    try {
      return await LiveTranscription.open(this.WebSocket, url + path, headers, timeoutSeconds);
    } catch (refused) {
      if (refused instanceof ConnectionFailed) throw refused;
      // A WebSocket does not tell why it was refused; the same address without one does.
      await this.transport.request("GET", path).catch((error: unknown) => {
        if (!(error instanceof InvalidRequest && error.code === "malformed_request")) throw error;
      });
      throw refused;
    }
  }

  async voices(): Promise<Voice[]> {
    return (await this.get<{ voices: Voice[] }>("/v1/voices")).voices;
  }

  limits(): Promise<Limits> {
    return this.get("/v1/limits");
  }

  /** What a text or so many seconds would cost. A text is counted as it is read: say `language` and `ssml` as for speech. */
  async quote(asked: { text: string; ssml?: boolean; language?: "sw" | "en" | "auto" } | { audioSeconds: number; channels?: "mixed" | "separate" }): Promise<Quote> {
    const body = "text" in asked ? asked : { audio_seconds: asked.audioSeconds, channels: asked.channels };
    return json((await this.transport.request("POST", "/v1/quotes", JSON.stringify(body), JSON_TYPE)).body);
  }

  balance(): Promise<Balance> {
    return this.get("/v1/balance");
  }

  /** By day, operation and key; days as 2026-01-31, the last 30 where none is given. */
  async usage(firstDay?: string, lastDay?: string): Promise<Usage[]> {
    const query = new URLSearchParams();
    if (firstDay) query.set("from", firstDay);
    if (lastDay) query.set("to", lastDay);
    return (await this.get<{ days: Usage[] }>(`/v1/usage?${query}`)).days;
  }

  private async get<T>(path: string): Promise<T> {
    return json<T>((await this.transport.request("GET", path)).body);
  }

  private post(path: string, body: BodyInit, idempotencyKey: string | undefined, headers: Record<string, string> = {}) {
    return this.transport.request("POST", path, body, { ...headers, "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() });
  }
}

function json<T>(body: Uint8Array): T {
  return camelCased<T>(JSON.parse(new TextDecoder().decode(body)));
}

/** Nothing where nothing in particular was expected. */
function expectedAnswer({ answer, currency, confidence, notUnderstood }: ExpectedAnswer): ExpectedAnswer {
  if (notUnderstood === undefined) return {};
  return {
    answer: answer ?? null, notUnderstood, ...(currency === undefined ? {} : { currency }), ...(confidence === undefined ? {} : { confidence }),
  };
}

function speechBody(text: string, voiceId: string, options: SpeakOptions, more: Record<string, unknown> = {}): string {
  const { outputFormat: output_format, speed, pitch, volume, ssml, language } = options;
  return JSON.stringify({ text, voice_id: voiceId, output_format, speed, pitch, volume, ssml, language, ...more });
}

/** The fields that files and live sessions share. */
function oneValue({ numerals, expect, language, prompt, channels, vocabulary }: LiveOptions): [string, string][] {
  const fields = { numerals, expect, language, prompt, channels, vocabulary };
  return Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1]));
}

function formOf(recording: Recording, options: TranscribeOptions, fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of [...Object.entries(fields), ...oneValue(options)]) form.append(name, value);
  if (options.diarize) form.append("diarize", "true");
  for (const name of options.channelNames ?? []) form.append("channel_names[]", name);
  for (const term of options.keyterms ?? []) form.append("keyterms[]", term);
  for (const choice of options.choices ?? []) form.append("choices[]", choice);
  const type = options.contentType ?? "application/octet-stream";
  // A Blob copies its parts, of memory that is shared too. One that was given has a type of its own, unless another is said.
  const given = recording instanceof Blob ? recording : new Blob([recording as Uint8Array<ArrayBuffer>], { type });
  const whole = options.contentType ? given.slice(0, given.size, type) : given;
  form.append("file", whole, options.name ?? "recording");
  return form;
}

function chargeOf(headers: Headers): Charge {
  const whole = (name: string) => Number(headers.get(name) ?? 0);
  return {
    units: whole("sauti-units"), costMicro: whole("sauti-cost"), balanceMicro: whole("sauti-balance"),
    currency: headers.get("sauti-currency") ?? "", cached: headers.get("sauti-cache") === "hit",
    replayed: headers.get("idempotency-replayed") === "true", requestId: headers.get("x-request-id") ?? "",
  };
}
