/** What the service answers with, named as in its API. Money is in micro-units: millionths of the currency. */

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
  /** With `channels: "separate"`. */
  channel?: number;
}

export interface Segment {
  start: number;
  end: number;
  text: string;
  confidence?: number;
  /** With `channels: "separate"`. */
  channel?: number;
  words?: Word[];
}

export interface Speech {
  audio: Uint8Array;
  contentType: string;
  charge: Charge;
}

/** Speech, when each word is said, and the words after numbers and abbreviations were spelled out. */
export interface TimedSpeech extends Speech {
  seconds: number;
  normalisedText: string;
  words: Word[];
}

export interface SpeechPiece {
  audio: Uint8Array;
  words: Word[];
}

export interface Transcript {
  text: string;
  seconds: number;
  noSpeech: boolean;
  segments: Segment[];
  words: Word[];
  charge: Charge;
}

/** A piece of a streamed transcript; the last one has `isLast` and the whole text. */
export interface TranscriptPiece {
  text: string;
  start: number;
  end: number;
  isLast: boolean;
}

/** Of a live transcription. A `partial` replaces the one before it; `done` has the whole text and its price. */
export type LiveEvent =
  | { type: "partial"; text: string; channel?: number }
  | { type: "final"; segment: Segment }
  | { type: "done"; text: string; seconds: number; cost_micro: number; balance_micro: number };

export interface Voice {
  voice_id: string;
  name: string;
  language: string;
  locale: string;
  gender: string;
  description: string;
  sample_rate: number;
  preview_url: string;
  model_version: string;
  licence: string;
  quality: Record<string, unknown>;
}

export interface Quote {
  operation: string;
  units: number;
  cost_micro: number;
  cached_cost_micro?: number | null;
  currency: string;
  balance_micro: number;
  covered: boolean;
}

export interface Balance {
  currency: string;
  available_micro: number;
  reserved_micro: number;
}

/** One day of one operation with one key. */
export interface Usage {
  day: string;
  operation: string;
  key_id?: string | null;
  requests: number;
  cached_requests: number;
  units: number;
  audio_seconds: number;
  amount_micro: number;
}

export interface Limits {
  text_characters_max: number;
  file_bytes_max: number;
  recording_seconds_max: number;
  requests_per_minute: number;
  concurrent_requests: number;
  audio_seconds_per_minute: number;
  request_seconds_max: number;
  speed_min: number;
  speed_max: number;
  output_formats: string[];
  prices: Record<string, unknown>;
}
