import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProgramPolicy } from "../../src/core/context.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { method } from "../../src/method/method.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { keyDoor } from "../../src/worlds/keyDoor.ts";

/** A program that plays the key-door world by what it sees. */
const program: ProgramPolicy = {
  name: "by sight",
  act: (_task, conversation) => {
    const seen = conversation.at(-1)!.content;
    if (seen === "cell 0 key no") return "pick";
    return seen.endsWith("no") ? "left" : seen.startsWith("cell 3") ? "open" : "right";
  },
};

test("a program plays in a model's place: counted as training, told apart by its name, in no model's tokens", async () => {
  const found: string[] = [];
  const recipe = method({
    id: "program",
    family: "memory",
    summary: "plays a program",
    slots: {
      rollout: async (ctx) => {
        const [task] = ctx.tasks;
        const idle = { name: "idle", act: () => "wave" };
        const played = await Promise.all(
          [program, idle].map((one) => ctx.play({ task: task!.id, attempt: 0, program: one })),
        );
        for (const t of played.flat())
          found.push(
            `${t.id} ${t.turns.length} ${t.end.kind} ${t.turns[0]?.tokens ? "in tokens" : "in words"}`,
          );
        return { trajectories: played.flat(), units: [] };
      },
    },
  });
  const engine = tabularEngine();
  const { counters } = await trainInMemory({
    environment: keyDoor(),
    method: recipe.build({ tasks: 1 }),
    engine,
    seed: 1,
    iterations: 1,
    // ten turns need more: they are no model's
    contextTokens: 16,
  });
  assert.equal(counters.episodes, 2);
  assert.equal(counters.demonstrations, undefined);
  assert.equal(found.length, 2);
  assert.match(found[0]!, /by sight 0\/agent 6 done in words$/);
  assert.match(found[1]!, /idle 0\/agent 10 truncated in words$/);
});
