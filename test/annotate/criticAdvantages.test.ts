import assert from "node:assert/strict";
import { test } from "node:test";
import { type CriticAdvantagesOptions, criticAdvantages } from "../../src/annotate/criticAdvantages.ts";
import { lastMessage } from "../../src/common/tokens/turns.ts";
import type { Helper } from "../../src/core/context.ts";
import type { Trajectory } from "../../src/core/types.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const said = (prompt: string, action: string, rewards: Record<string, number>) =>
  turnOf([1], [2], {
    prompt: [{ role: "user", content: prompt }],
    action: { role: "assistant", content: action },
    rewards,
  });
const walk = (end: Trajectory["end"]): Trajectory => ({
  ...trajectoryOf("t", [
    said("one", "go", { cost: -1 }),
    said("two", "go", { cost: -1, bonus: 8 }),
    said("three", "stop", { outcome: 4 }),
  ]),
  end,
});
const done = { kind: "done", reason: "arrived" } as const;

/** What a critic is taught, with one that says Q = 3 and V = 1 everywhere. */
async function taught(t: Trajectory, options: CriticAdvantagesOptions = {}) {
  const fits: unknown[] = [];
  const critic = {
    fit: async (rows: unknown) => {
      fits.push(rows);
      return {};
    },
    predict: async (xs: readonly unknown[]) => xs.map(() => ({ q: 3, v: 1 })),
  };
  const ctx = ctxOf({ helper: <In, Label, Out>() => critic as unknown as Helper<In, Label, Out> });
  const notes = await criticAdvantages({ observation: lastMessage, ...options })(ctx, {
    trajectories: [t],
    units: [],
  });
  return { fits, note: notes.advantage?.get("t") };
}

const row = (observation: string, utterance: string, reward: number, next: string | null) => ({
  x: { observation, utterance },
  y: { reward, next },
  weight: 1,
});

test("turns are taught from the last one on, with what was seen next, as often as asked", async () => {
  const { fits, note } = await taught(walk(done), { passes: 2 });
  const rows = [row("three", "stop", 4, null), row("two", "go", 7, "three"), row("one", "go", -1, "two")];
  assert.deepEqual(fits, [rows, rows]);
  assert.deepEqual([...note!], [2, 2, 2]); // 3 − 1
});

test("nothing is learnt of the turn before a cut", async () => {
  const { fits } = await taught(walk({ kind: "truncated", limit: "turns", at: 3 }), { passes: 1 });
  assert.deepEqual(fits, [[row("two", "go", 7, "three"), row("one", "go", -1, "two")]]);
});

test("returns: all that followed, discounted, of the rewards that count, and nothing next", async () => {
  const { fits } = await taught(walk(done), {
    passes: 1,
    backup: "return",
    discount: 0.5,
    rewards: ["cost", "outcome"],
  });
  // 4; −1 + 0.5 · 4 = 1; −1 + 0.5 · 1 = −0.5
  const rows = [row("three", "stop", 4, null), row("two", "go", 1, null), row("one", "go", -0.5, null)];
  assert.deepEqual(fits, [rows]);
});
