// A transcript as the files people want, made here: the words are paid for already.

function stamp(seconds, point) {
  const ms = Math.round(seconds * 1000);
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  return `${two(ms / 3600000)}:${two((ms / 60000) % 60)}:${two((ms / 1000) % 60)}${point}${String(ms % 1000).padStart(3, "0")}`;
}

// Who speaks, where that was asked: a letter for a voice, a number for a side of a call.
export const who = (segment) => segment.speaker ?? segment.channel;

const said = (segment) => (who(segment) === undefined ? segment.text : `${who(segment)}: ${segment.text}`);
const oneLine = (text) => text.replaceAll(/\s+/g, " ").replaceAll("-->", "→").trim();

export const files = {
  txt: (transcript) => ["text/plain", `${transcript.segments.map(said).join("\n")}\n`],
  srt: (transcript) => [
    "application/x-subrip",
    transcript.segments
      .map((segment, i) => `${i + 1}\n${stamp(segment.start, ",")} --> ${stamp(segment.end, ",")}\n${oneLine(said(segment))}\n`)
      .join("\n"),
  ],
  vtt: (transcript) => [
    "text/vtt",
    `WEBVTT\n\n${transcript.segments.map((segment) => `${stamp(segment.start, ".")} --> ${stamp(segment.end, ".")}\n${oneLine(said(segment))}\n`).join("\n")}`,
  ],
  json: (transcript) => ["application/json", JSON.stringify(transcript, null, 2)],
};
