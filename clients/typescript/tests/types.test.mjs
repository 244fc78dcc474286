// The types as a project of its own sees them, with those of Node: SAUTI_NODE_MODULES.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const packages = process.env.SAUTI_NODE_MODULES;

for (const library of ["ES2022", "ES2022,DOM,DOM.AsyncIterable"]) {
  test(`sound that is answered can be sent, with the library ${library}`, () => {
    const uses = fileURLToPath(new URL("uses.ts", import.meta.url));
    const options = ["--noEmit", "--strict", "--target", "ES2022", "--module", "NodeNext", "--lib", library];
    const types = ["--typeRoots", join(packages, "@types"), "--types", "node"];
    const compiled = spawnSync(process.execPath, [join(packages, "typescript/bin/tsc"), ...options, ...types, uses], { encoding: "utf8" });
    assert.equal(compiled.status, 0, compiled.stdout + compiled.stderr);
  });
}
