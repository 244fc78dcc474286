/** What the service answers with, its names in camelCase. Money is in micro-units: millionths of the currency. */

/** What a request cost, in characters or seconds and in money. */
export interface Charge {
  units: number;
  costMicro: number;
  balanceMicro: number;
  currency: string;
  cached: boolean;
  replayed: boolean;
  requestId: string;
}

export interface Word {
  word: string;
  start: number;
  end: number;
  confidence?: number;
  /** `sw` or `en`, for words that were heard. */
  language?: string;
  /** With `channels: "separate"`. */
  channel?: number;
  /** With `diarize`. */
  speaker?: string;
}

/** A `mark` of SSML and when it is reached, in seconds. */
export interface Mark {
  name: string;
  time: number;
}

export interface Segment {
  start: number;
  end: number;
  text: string;
  confidence?: number;
  /** With `channels: "separate"`. */
  channel?: number;
  /** With `diarize`. */
  speaker?: string;
  words?: Word[];
}

/** One reading of a recording, with how likely it is; with `expect` or `choices` also its value. */
export interface Alternative {
  text: string;
  confidence: number;
  answer?: ExpectedAnswer["answer"];
  currency?: string;
}

export interface Speech {
  audio: Uint8Array<ArrayBuffer>;
  contentType: string;
  charge: Charge;
}

/** Speech, when each word is said, and the words after numbers and abbreviations were spelled out. */
export interface TimedSpeech extends Speech {
  seconds: number;
  normalisedText: string;
  words: Word[];
  marks: Mark[];
}

export interface SpeechPiece {
  audio: Uint8Array<ArrayBuffer>;
  words: Word[];
  marks: Mark[];
}

/** What was said where `expect` or `choices` asked for it. */
export interface ExpectedAnswer {
  /** `yes_no`: true or false; `digits`: a string of figures; `amount`: a number; `choices`: the choice as it was sent. */
  answer?: boolean | number | string | null;
  /** The currency that was said with an amount. */
  currency?: string;
  /** 0 to 1: how likely it is that this was said. */
  confidence?: number;
  /** Somebody spoke, but said nothing that was expected. */
  notUnderstood?: boolean;
}

export interface Transcript extends ExpectedAnswer {
  text: string;
  seconds: number;
  noSpeech: boolean;
  segments: Segment[];
  words: Word[];
  /** With `alternatives`, best first. */
  alternatives: Alternative[];
  charge: Charge;
}

/** A piece of a streamed transcript; the last one has `isLast`, the whole text, and what it cost. */
export interface TranscriptPiece extends ExpectedAnswer {
  text: string;
  start: number;
  end: number;
  isLast: boolean;
  seconds?: number;
  costMicro?: number;
  balanceMicro?: number;
}

/** Of a live transcription. A `partial` replaces the one before it; `done` has the whole text and its price. */
export type LiveEvent =
  | { type: "partial"; text: string; channel?: number }
  | { type: "final"; segment: Segment }
  | { type: "not_understood" }
  | ({ type: "done"; text: string; seconds: number; costMicro: number; balanceMicro: number } & ExpectedAnswer);

export interface Voice {
  voiceId: string;
  name: string;
  language: string;
  locale: string;
  gender: string;
  description: string;
  sampleRate: number;
  previewUrl: string;
  modelVersion: string;
  licence: string;
  quality: Record<string, unknown>;
}

export interface Quote {
  operation: string;
  units: number;
  costMicro: number;
  cachedCostMicro?: number | null;
  currency: string;
  balanceMicro: number;
  covered: boolean;
}

export interface Balance {
  currency: string;
  availableMicro: number;
  reservedMicro: number;
}

/** One day of one operation with one key. */
export interface Usage {
  day: string;
  operation: string;
  keyId?: string | null;
  requests: number;
  cachedRequests: number;
  units: number;
  audioSeconds: number;
  amountMicro: number;
}

export interface Limits {
  textCharactersMax: number;
  fileBytesMax: number;
  recordingSecondsMax: number;
  requestsPerMinute: number;
  concurrentRequests: number;
  audioSecondsPerMinute: number;
  requestSecondsMax: number;
  speedMin: number;
  speedMax: number;
  pitchMin: number;
  pitchMax: number;
  volumeMin: number;
  volumeMax: number;
  outputFormats: string[];
  prices: Record<string, unknown>;
}

/** JSON as the API writes it, with its names in camelCase. */
export function camelCased<T>(value: unknown): T {
  if (Array.isArray(value)) return value.map(camelCased) as T;
  if (typeof value !== "object" || value === null) return value as T;
  const fields = Object.entries(value).map(([name, field]) => [name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()), camelCased(field)]);
  return Object.fromEntries(fields) as T;
}
