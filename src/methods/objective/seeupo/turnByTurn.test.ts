import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf, evidenceOf } from "../../../../test/core/make.ts";
import type { Batch } from "../../../core/batch.ts";
import type { Model } from "../../../core/model.ts";
import type { Update } from "../../../core/slots.ts";
import { type TurnByTurnOptions, turnByTurn } from "./turnByTurn.ts";

/** Two trajectories: the first has turns 0 and 1 (two tokens), the second turn 0 alone. */
const batch = batchOfRows([
  { behaviour: [-9, -9, -9], advantage: [1, 1, 1], turn: [0, 1, 1] },
  { behaviour: [-9], advantage: [-2], turn: [0] },
]);

/** A model whose tokens all become likelier by a factor with every step, and what was learnt at each. */
async function run(options: Omit<TurnByTurnOptions, "each">, factor: number) {
  const seen: { turn: number[]; weight: number[]; advantage: number[]; old: number[] }[] = [];
  const model: Pick<Model, "score"> = {
    score: async () => ({
      logp: new Float32Array(4).fill(-3 + seen.length * Math.log(factor)),
      heads: {},
    }),
  };
  const each: Update = async (_ctx, part: Batch) => {
    seen.push({
      turn: [...part.turn_A],
      weight: [...part.weight_A],
      advantage: [...part.advantage_A],
      old: [...part.behaviour_A],
    });
    return { steps: 1, loss: seen.length };
  };
  const ctx = ctxOf({ model: () => model as Model });
  const stats = await turnByTurn({ ...options, each })(ctx, batch, [], evidenceOf([]));
  return { seen, stats };
}
const near = (got: readonly number[], want: readonly number[]): void => {
  assert.equal(got.length, want.length);
  for (const [i, w] of want.entries()) assert.ok(Math.abs(got[i]! - w) < 1e-5, `${got}, expected ${want}`);
};

test("turnByTurn: the last turn first, each alone, old log-probabilities anew before each", async () => {
  const { seen, stats } = await run({}, 1.5);
  assert.deepEqual(
    seen.map((s) => s.weight),
    [
      [0, 1, 1, 0],
      [1, 0, 0, 1],
    ],
  );
  near(seen[0]!.old, [-3, -3, -3, -3]);
  near(seen[1]!.old, Array(4).fill(-3 + Math.log(1.5)));
  assert.deepEqual(stats, { steps: 2, loss: 1.5 });
});

test("turnByTurn: earlier turns are weighed by the ratios of later ones, trajectories without the turn are not", async () => {
  // the first trajectory's turn 1 has become 1.5 times as likely per token; the second has none
  near((await run({}, 1.5)).seen[1]!.advantage, [1.5, 1.5, 1.5, -2]);
  near((await run({ correction: { bound: 0.2 } }, 1.5)).seen[1]!.advantage, [1.2, 1.2, 1.2, -2]);
  near((await run({ correction: { bound: 0.2 } }, 0.5)).seen[1]!.advantage, [0.8, 0.8, 0.8, -2]);
  near((await run({ correction: "none" }, 1.5)).seen[1]!.advantage, [1, 1, 1, -2]);
});

test("turnByTurn: forward, the first turn weighs on the second", async () => {
  const { seen } = await run({ order: "forward" }, 2);
  assert.deepEqual(
    seen.map((s) => s.weight),
    [
      [1, 0, 0, 1],
      [0, 1, 1, 0],
    ],
  );
  near(seen[1]!.advantage, [2, 2, 2, -4]);
});

test("turnByTurn: weights multiply over turns, and stay within the bound", async () => {
  const three = batchOfRows([{ behaviour: [-1, -1, -1], advantage: [1, 1, 1], turn: [0, 1, 2] }]);
  for (const [bound, want] of [
    [Number.POSITIVE_INFINITY, [1, 1.5, 2.25]],
    [0.6, [1, 1.5, 1.6]],
  ] as const) {
    const advantages: number[] = [];
    const model: Pick<Model, "score"> = {
      score: async () => ({
        logp: new Float32Array(3).fill(-3 + advantages.length * Math.log(1.5)),
        heads: {},
      }),
    };
    const each: Update = async (_ctx, part) => {
      advantages.push(part.advantage_A[0]!);
      return { steps: 1 };
    };
    const ctx = ctxOf({ model: () => model as Model });
    await turnByTurn({ each, correction: { bound } })(ctx, three, [], evidenceOf([]));
    near(advantages, want);
  }
});

test("turnByTurn: an empty batch makes no step", async () => {
  const each: Update = async () => ({ steps: 1 });
  const ctx = ctxOf({ model: () => ({}) as Model });
  assert.deepEqual(await turnByTurn({ each })(ctx, batchOfRows([]), [], evidenceOf([])), { steps: 0 });
});
