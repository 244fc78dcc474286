// The console's journeys in a real browser against a real service with its models.
//   SCREENSHOTS=docs/screenshots node --test --test-name-pattern="pictures|closed" console.test.mjs   takes the pictures of the README.
//   node --test --test-name-pattern="microphone|closed" console.test.mjs   runs some of them.

import { after, before, test } from "node:test";
import { closeWorld, openWorld } from "./world.mjs";

before(openWorld);
after(closeWorld);

await import("./journeys/entrance.mjs");
await import("./journeys/speak.mjs");
await import("./journeys/transcribe.mjs");
await import("./journeys/workspace.mjs");
await import("./journeys/people.mjs");
await import("./journeys/operator.mjs");
await import("./journeys/safety.mjs");
await import("./journeys/looks.mjs");
if (process.env.SCREENSHOTS) await import("./journeys/pictures.mjs");

// Newer versions of Node wait for the browser before they run the hook above, so the last test closes it.
test("the world is closed again", closeWorld);
