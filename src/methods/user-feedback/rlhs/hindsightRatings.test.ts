import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ctxOf, ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Stats } from "../../../core/types.ts";
import { type HindsightRatingsOptions, hindsightRatings, ratingOf } from "./hindsightRatings.ts";
import type { SimulatedOutcome } from "./outcomeSimulator.ts";

const came: SimulatedOutcome = {
  taken: "buy",
  utilities: { buy: [-0.4, 1, 0.5], leave: [0], wait: [0, 0.25] },
};

test("a rating in hindsight is worked by hand", () => {
  const about = (options: HindsightRatingsOptions, want: number) =>
    assert.ok(Math.abs(ratingOf(came, options) - want) < 1e-12, `${ratingOf(came, options)}, not ${want}`);
  about({}, 1.1); // −0.4 + 1 + 0.5
  about({ steps: 0 }, 0); // nothing seen
  about({ steps: 1 }, -0.4); // only the price
  about({ discount: 0.5 }, 0.225); // −0.4 + 0.5 + 0.125
  about({ discount: 0.5, steps: 2 }, 0.1);
  about({ shown: "full" }, 0.85); // less waiting, the best of the others: 0.25
  about({ shown: "full", steps: 1 }, -0.4); // neither of the others has brought anything
  assert.equal(ratingOf({ taken: "buy", utilities: { buy: [2] } }, { shown: "full" }), 2);
  assert.equal(ratingOf({ taken: "flee", utilities: { stay: [2] } }, { shown: "full" }), -2);
});

test("what N true steps miss of the whole is at most γ^N u_max / (1 − γ), and reaches it", () => {
  const utilities = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 });
  const within = (u: readonly number[], steps: number, discount: number): boolean => {
    const seen = { taken: "it", utilities: { it: u } };
    const missed = ratingOf(seen, { discount }) - ratingOf(seen, { discount, steps });
    return Math.abs(missed) <= discount ** steps / (1 - discount) + 1e-12;
  };
  fc.assert(fc.property(utilities, fc.nat(20), fc.constantFrom(0, 0.5, 0.9), within), { seed: 1 });
  // Σ_{t ≥ 3} 0.5^t = 0.25 = 0.5³ / (1 − 0.5)
  const ones = { taken: "it", utilities: { it: new Array<number>(60).fill(1) } };
  assert.ok(
    Math.abs(ratingOf(ones, { discount: 0.5 }) - ratingOf(ones, { discount: 0.5, steps: 3 }) - 0.25) < 1e-12,
  );
});

const trajectories = ["a", "b", "c"].map((id) =>
  trajectoryOf(
    id,
    [turnOf([1], [2])],
    id === "c" ? { end: { kind: "failed", boundary: "model", message: "" } } : {},
  ),
);

test("ratings in hindsight: one score each; silence where nothing can be told, and of what failed", async () => {
  const seeds = new Set<number>();
  const feedback = hindsightRatings({
    channel: "rating",
    world: async (_ctx, { id }, random) => {
      seeds.add(random.seed);
      return id === "a" ? came : undefined;
    },
  });
  const signals = await feedback(ctxOf({ random: randomStream(1) }), { trajectories, units: [] }, {});
  const want: Signal = {
    kind: "score",
    channel: "rating",
    about: [{ trajectory: "a" }],
    value: 1.1,
    source: "hindsight",
  };
  assert.deepEqual(signals, [want]);
  assert.equal(seeds.size, 2, "an aftermath of its own for each that did not fail");
});

test("without a world of its own the environment's reward is the outcome", async () => {
  const ctx = ctxWith({
    score: async (attempts) =>
      attempts.map(({ trajectory: { id } }): Stats => (id === "a" ? { rating: 5, outcome: 0.6 } : {})),
  });
  const signals = await hindsightRatings()(ctx, { trajectories, units: [] }, {});
  assert.deepEqual(
    signals.map((s) => [s.channel, s.about[0]?.trajectory, s.kind === "score" && s.value]),
    [["outcome", "a", 0.6]],
  );
});
