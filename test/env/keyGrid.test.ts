import assert from "node:assert/strict";
import { test } from "node:test";
import { keyGrid } from "../../src/env/keyGrid.ts";
import { obeysTheLaws } from "./laws.ts";
import { play } from "./play.ts";

obeysTheLaws(() => keyGrid({ seed: 5, loops: 144 }), { garbage: 0.3, flawed: [0.5, 1] });

test("keyGrid: the door does not open without the key, and tasks begin in every other cell once", async () => {
  const environment = keyGrid({ side: 4 });
  const tasks = [...environment.tasks("train"), ...environment.tasks("test")];
  assert.equal(new Set(tasks.map((t) => t.metadata.start)).size, 14); // all but key and door
  for (const task of tasks) {
    const { conversation, actions } = await play(environment, task, environment.expert!);
    const seen = conversation.filter((m) => m.role === "user").map((m) => m.content);
    // the key is had from one moment on, and the last step is made with it
    assert.ok(seen.at(-1)!.endsWith("key yes"), seen.join(" / "));
    assert.equal(actions.length, seen.length);
  }
});
