// A service of its own for the tests: a new data folder, a free port, the demonstration account.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = join(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env.SAUTI ?? join(repository, "target/debug/sauti");

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

export async function startService(settings = {}) {
  const data = await mkdtemp(join(tmpdir(), "sauti-browser-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(program, ["serve", "--demo"], {
    cwd: data,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      SAUTI_DATA__DIR: data,
      SAUTI_MODELS__DIR: join(repository, "models"),
      SAUTI_SERVER__LISTEN: new URL(url).host,
      SAUTI_TELEMETRY__LOG_LEVEL: "warn",
      ...settings,
    },
  });
  await reached(`${url}/readyz`);
  const demo = JSON.parse(await readFile(join(data, "demo.json"), "utf8"));
  return {
    url,
    demo,
    program,
    data,
    run: (...command) => run(data, command),
    async letter(about) {
      for (let i = 0; i < 200; i++) {
        for (const name of await readdir(join(data, "outbox")).catch(() => [])) {
          const text = (await readFile(join(data, "outbox", name), "utf8")).replaceAll(/=\r?\n/g, "").replaceAll("=3D", "=");
          const link = text.match(new RegExp(`http\\S*/console/${about}\\?token=\\w+`));
          if (link) return link[0];
        }
        await new Promise((done) => setTimeout(done, 50));
      }
      throw new Error(`no letter with a link to ${about}`);
    },
    async stop() {
      child.kill("SIGTERM");
      await new Promise((done) => child.once("exit", done));
      await rm(data, { recursive: true, force: true });
    },
  };
}

// The command line against the same data.
function run(data, command) {
  return new Promise((done, fail) => {
    const child = spawn(program, command, { env: { ...process.env, SAUTI_DATA__DIR: data, SAUTI_MODELS__DIR: join(repository, "models") } });
    let out = "";
    child.stdout.on("data", (piece) => { out += piece; });
    child.stderr.on("data", (piece) => { out += piece; });
    child.once("exit", (code) => (code === 0 ? done(out) : fail(new Error(out))));
  });
}

async function reached(address) {
  for (let i = 0; i < 600; i++) {
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${address} does not answer`);
}
