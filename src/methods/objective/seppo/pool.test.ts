import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf } from "../../../../test/core/make.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Frozen, Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { drawnFromPool, keepInPool, pool } from "./pool.ts";

/** A run of so many iterations over a pool: which iteration's policy each place holds, and the draw of each iteration. */
async function run(seed: number, iterations: number, size: number, model: Model, frozen: Frozen) {
  const held = new Map<string, number>();
  const draws: (number | undefined)[] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    const ctx: Ctx = ctxOf({
      clock: { iteration, phase: "train", step: 0 },
      random: randomStream(seed).split("iteration", iteration),
      model: () => model,
      frozen: (name) => ({
        ...frozen,
        blend: async (_, rate) => {
          assert.equal(rate, 1);
          held.set(name, iteration);
        },
      }),
    });
    await keepInPool(ctx, size);
    const before = [...held];
    await keepInPool(ctx, size);
    assert.deepEqual([...held], before, "keeping twice is keeping once");
    draws.push(held.get(drawnFromPool(ctx, size)));
  }
  return { held, draws };
}

test("the pool holds a uniform sample of all past policies, and draws from it", async () => {
  const model = await tabularEngine().create({ id: "policy", seed: 1, vocabulary: ["a"], contextTokens: 8 });
  const frozen = await model.freeze();
  const [size, iterations, runs] = [3, 6, 1500];
  const kept = new Array<number>(iterations).fill(0);
  const drawn = new Array<number>(iterations).fill(0);
  for (let seed = 0; seed < runs; seed++) {
    const { held, draws } = await run(seed, iterations, size, model, frozen);
    assert.equal(held.size, size);
    assert.ok([...held.keys()].every((name) => name in pool(size)));
    for (const iteration of held.values()) kept[iteration]!++;
    assert.equal(draws[0], 0);
    drawn[draws.at(-1)!]!++;
  }
  // each of 6 is kept with probability 1/2 and drawn with 1/6; five deviations of 1500 tries: 0.065 and 0.049
  for (const n of kept) assert.ok(Math.abs(n / runs - 1 / 2) < 0.065, String(kept));
  for (const n of drawn) assert.ok(Math.abs(n / runs - 1 / 6) < 0.049, String(drawn));
});
