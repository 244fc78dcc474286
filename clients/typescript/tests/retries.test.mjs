// What happens when things go wrong, with a small server that answers as told.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";

import { APIError, ConflictError, ConnectionFailed, Overloaded, Sauti, ServerError, StreamBroken } from "../dist/index.js";

const PROBLEM = JSON.stringify({ status: 503, code: "overloaded", detail: "Busy.", request_id: "req_1", errors: [] });
const SPEECH = [200, { "Content-Type": "audio/wav", "Sauti-Units": "7" }, "RIFF"];

let answers, seen, bodies, pauses, client;
const server = createServer((request, response) => {
  const sent = [];
  request.on("data", (piece) => sent.push(piece)).on("end", () => {
    seen.push(request.headers);
    bodies.push(Buffer.concat(sent).toString());
    const answer = answers.shift();
    if (typeof answer === "function") return answer(response);
    if (answer === "cut") return request.socket.destroy();
    const [status, headers, body, breaks] = answer;
    response.writeHead(status, headers);
    if (!breaks) return response.end(body);
    response.write(body);
    setImmediate(() => request.socket.destroySoon());
  });
});
before(() => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve)));
after(() => server.close());
beforeEach(() => {
  [answers, seen, bodies, pauses] = [[], [], [], []];
  const url = `http://127.0.0.1:${server.address().port}`;
  client = new Sauti({ url, key: "key", retriesMax: 3, sleep: async (seconds) => void pauses.push(seconds) });
});
const keys = () => new Set(seen.map((headers) => headers["idempotency-key"]));

test("it waits as long as it is told and keeps the idempotency key", async () => {
  answers = [[503, { "Retry-After": "7" }, PROBLEM], [429, { "Retry-After": "2" }, PROBLEM], SPEECH];
  assert.equal((await client.speak("Habari.", "asha")).charge.units, 7);
  assert.deepEqual(pauses, [7, 2]);
  assert.equal(seen.length, 3);
  assert.equal(keys().size, 1);
});

test("errors of the server are tried again with growing pauses", async () => {
  answers = [[500, {}, "{}"], [502, {}, "<html>"], [504, {}, ""], SPEECH];
  await client.speak("Habari.", "asha");
  assert.ok(pauses[0] < pauses[1] && pauses[1] < pauses[2]);
});

test("a cut connection and a cut answer are tried again", async () => {
  answers = ["cut", [200, { "Content-Length": "50" }, "RIFF", true], SPEECH];
  assert.equal(Buffer.from((await client.speak("Habari.", "asha")).audio).toString(), "RIFF");
  assert.equal(keys().size, 1);
});

test("a request that still runs is waited for, another conflict is not", async () => {
  answers = [[409, {}, '{"code": "idempotency_in_flight"}'], SPEECH];
  await client.speak("Habari.", "asha");
  answers = [[409, {}, '{"code": "conflict"}']];
  await assert.rejects(client.speak("Habari.", "asha"), ConflictError);
});

test("what cannot pass is not tried again", async () => {
  for (const status of [400, 401, 402, 403, 404, 413, 415, 422]) {
    answers = [[status, {}, '{"required": 5, "available": 2, "code": "x"}']];
    await assert.rejects(client.speak("Habari.", "asha"), (error) => error instanceof APIError && error.status === status);
  }
  assert.deepEqual(pauses, []);
});

test("a refusal for money tells both amounts", async () => {
  answers = [[402, {}, '{"required": 5, "available": 2, "code": "balance_insufficient"}']];
  await assert.rejects(client.speak("Habari.", "asha"), (error) => error.requiredMicro === 5 && error.availableMicro === 2);
});

test("it gives up in the end", async () => {
  answers = Array(4).fill([503, { "Retry-After": "1" }, PROBLEM]);
  await assert.rejects(client.speak("Habari.", "asha"), (error) => {
    return error instanceof Overloaded && error.code === "overloaded" && error.requestId === "req_1" && error.retryAfterSeconds === 1;
  });
  assert.equal(pauses.length, 3);
});

test("a stream is tried again only before any work", async () => {
  answers = [[503, { "Retry-After": "1" }, PROBLEM], SPEECH];
  let sound = "";
  for await (const piece of client.speakStream("Habari.", "asha")) sound += Buffer.from(piece).toString();
  assert.equal(sound, "RIFF");
  assert.deepEqual([...keys()], [undefined]);
  answers = [[500, {}, "{}"]];
  await assert.rejects(client.speakStream("Habari.", "asha").next(), ServerError);
});

test("a stream that breaks off never looks whole", async () => {
  answers = [[200, { "Transfer-Encoding": "chunked" }, "RIFF", true]];
  const heard = [];
  await assert.rejects(async () => {
    for await (const piece of client.speakStream("Habari.", "asha")) heard.push(Buffer.from(piece).toString());
  }, StreamBroken);
  assert.deepEqual(heard, ["RIFF"]);
});

test("a stream lasts as long as it is listened to, and ends where nothing more comes", async () => {
  const sendTwo = (more) => (response) => {
    response.write("RI");
    setTimeout(() => (more ? response.end("FF") : undefined), 50);
  };
  const hasty = new Sauti({ url: client.transport.options.url, key: "key", timeoutSeconds: 0.3 });
  const listen = async (heard) => {
    for await (const piece of hasty.speakStream("Habari.", "asha")) {
      heard.push(Buffer.from(piece).toString());
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  };
  answers = [sendTwo(true), sendTwo(false)];
  const whole = [];
  await listen(whole);
  assert.equal(whole.join(""), "RIFF");
  await assert.rejects(listen([]), (error) => error instanceof StreamBroken && /nothing came/.test(error.message));
});

test("a Blob goes with the content type that is said", async () => {
  answers = [[200, {}, '{"text":"","duration":1,"no_speech":true}'], [200, {}, '{"text":"","duration":1,"no_speech":true}']];
  await client.transcribe(new Blob(["abc"]), { contentType: "audio/basic" });
  await client.transcribe(new Blob(["abc"], { type: "audio/PCMA" }));
  assert.match(bodies[0], /Content-Type: audio\/basic\r\n\r\nabc/i);
  assert.match(bodies[1], /Content-Type: audio\/pcma\r\n\r\nabc/i);
});

test("an error event ends a stream of events", async () => {
  answers = [[200, {}, 'data: {"type":"error","error":{"message":"Too long.","code":"deadline_exceeded"}}\n\n']];
  await assert.rejects(client.speakEvents("Habari.", "asha").next(), (error) => error.code === "deadline_exceeded");
});

test("nobody there is a failed connection", async () => {
  const alone = new Sauti({ url: "http://127.0.0.1:9", key: "key", retriesMax: 0 });
  await assert.rejects(alone.balance(), ConnectionFailed);
});
