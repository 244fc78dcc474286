/** A client for Sauti: Swahili text to speech and speech to text. No dependencies. */

export { Sauti, type SautiOptions, type SpeakOptions, type TranscribeOptions, type LiveOptions, type Recording } from "./client.js";
export * from "./errors.js";
export { LiveTranscription, type WebSocketClass } from "./live.js";
export type * from "./models.js";
