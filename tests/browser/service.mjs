// A service of its own for the tests: a new data folder, a free port, the demonstration account.

import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = join(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env.SAUTI_BINARY ?? join(repository, "target/debug/sauti");

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

// Without its models a service answers, and says that it is not ready.
export async function startService({ withModels = true, settings = {} } = {}) {
  const data = await mkdtemp(join(tmpdir(), "sauti-browser-"));
  const models = withModels ? join(repository, "models") : await onlyTheCatalogue(data);
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(program, ["serve", "--demo"], {
    cwd: data,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      SAUTI_DATA__DIR: data,
      SAUTI_MODELS__DIR: models,
      SAUTI_SERVER__LISTEN: new URL(url).host,
      SAUTI_TELEMETRY__LOG_LEVEL: "warn",
      // Every journey signs up somebody of its own.
      SAUTI_LIMITS__SIGNUPS_PER_HOUR: "1000",
      ...settings,
    },
  });
  await reached(`${url}/${withModels ? "readyz" : "healthz"}`);
  const demo = JSON.parse(await readFile(join(data, "demo.json"), "utf8"));
  return {
    url,
    demo,
    data,
    // The newest letter to somebody that speaks of this, once it is written.
    async letterText(about, to) {
      for (let i = 0; i < 200; i++) {
        for (const name of (await readdir(join(data, "outbox")).catch(() => [])).sort().reverse()) {
          const text = (await readFile(join(data, "outbox", name), "utf8"));
          if (text.includes(about) && text.includes(`To: ${to}`)) return text;
        }
        await new Promise((done) => setTimeout(done, 50));
      }
      throw new Error(`no letter to ${to} about ${about}`);
    },
    // The link in it.
    async letter(about, to) {
      const text = await this.letterText(`/console/${about}?token=`, to);
      return text.match(new RegExp(`http\\S*/console/${about}\\?token=\\w+`))[0];
    },
    async stop() {
      child.kill("SIGTERM");
      await new Promise((done) => child.once("exit", done));
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function onlyTheCatalogue(data) {
  const models = join(data, "models");
  await mkdir(join(models, "voices"), { recursive: true });
  await copyFile(join(repository, "models/voices/catalogue.json"), join(models, "voices/catalogue.json"));
  return models;
}

async function reached(address) {
  for (let i = 0; i < 600; i++) {
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${address} does not answer`);
}
