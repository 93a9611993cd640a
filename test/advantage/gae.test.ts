import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type GaeOptions, gae } from "../../src/advantage/gae.ts";
import type { Advantage, AnnotatedExperience, Channels } from "../../src/core/slots.ts";
import type { Ending } from "../../src/core/types.ts";
import { actionTokens } from "../../src/core/types.ts";
import { evidenceOf, trajectoryOf, turnOf } from "../core/make.ts";
import { obeys } from "./laws.ts";

/** Evidence as it is, with a critic that expects `value(token)` everywhere. */
const judged = (annotated: AnnotatedExperience, value: (token: number) => number): AnnotatedExperience => ({
  ...annotated,
  notes: {
    value: new Map(
      annotated.trajectories.map((t) => [
        t.id,
        Float32Array.from({ length: actionTokens(t) }, (_, a) => value(a)),
      ]),
    ),
  },
});
const withCritic = (estimator: Advantage<null>): Advantage<null> => ({
  ...estimator,
  apply: (annotated, state, soFar) =>
    estimator.apply(
      judged(annotated, () => 0),
      state,
      soFar,
    ),
});

for (const level of ["token", "turn"] as const) {
  obeys(`gae, ${level}`, () => withCritic(gae({ level })), ["scales", "permutes", "oneOverTokens"]);
}

/** Turns of two tokens and of one, values 0.5, 0.25, 0.75; 1 is paid for the first turn, 2 for the whole. */
function twoTurns(end: Ending = { kind: "done", reason: "over" }): AnnotatedExperience {
  const t = trajectoryOf("t", [turnOf([1], [2, 3]), turnOf([1, 2, 3, 4], [5])], { end });
  const channels: Channels = {
    step: [{ at: { trajectory: "t", turn: 0 }, value: 1 }],
    outcome: [{ at: { trajectory: "t" }, value: 2 }],
  };
  const unit = { id: "t", group: "g", members: ["t"] };
  const bare = { ...evidenceOf([]), trajectories: [t], units: [unit], channels };
  return judged(bare, (a) => [0.5, 0.25, 0.75][a]!);
}

function run(options: GaeOptions, annotated: AnnotatedExperience) {
  const { advantages, columns, stats } = gae(options).apply(annotated, null, undefined);
  return { advantage: [...advantages.get("t")!], target: [...columns!.return!.get("t")!], stats };
}

test("gae over tokens is worked by hand", () => {
  // discount ½, λ ½. token 2: δ = 2 − 0.75 = 1.25. token 1: δ = 1 + 0.375 − 0.25 = 1.125, A = 1.125 + 1.25/4 = 1.4375
  // token 0: δ = 0.125 − 0.5 = −0.375, A = −0.375 + 1.4375/4 = −0.015625
  const { advantage, target } = run({ discount: 0.5, lambda: 0.5 }, twoTurns());
  assert.deepEqual(advantage, [-0.015625, 1.4375, 1.25]);
  assert.deepEqual(target, [0.484375, 1.6875, 2]);
});

test("gae over turns: one value and one discount per turn, the same advantage on all its tokens", () => {
  // turn 1: 2 − 0.75 = 1.25. turn 0: δ = 1 + 0.375 − 0.5 = 0.875, A = 0.875 + 1.25/4 = 1.1875
  const { advantage, target } = run({ level: "turn", discount: 0.5, lambda: 0.5 }, twoTurns());
  assert.deepEqual(advantage, [1.1875, 1.1875, 1.25]);
  assert.deepEqual(target, [1.6875, Number.NaN, 2]);
});

test("gae: what follows a limit is nothing, or the last value before it; an end is an end", () => {
  const cut: Ending = { kind: "truncated", limit: "turns", at: 2 };
  const last = (truncated: "nothing" | "value", end?: Ending) =>
    run({ lambda: 0, truncated }, twoTurns(end)).advantage.at(-1);
  assert.equal(last("nothing", cut), 1.25);
  assert.equal(last("value", cut), 2);
  assert.equal(last("value"), 1.25);
});

test("gae: λ = 1 is the return to go less the value; λ = 0 is one step; a perfect critic leaves nothing", () => {
  const value = fc.double({ min: -2, max: 2, noNaN: true });
  fc.assert(
    fc.property(value, value, value, (r, s, v) => {
      const t = trajectoryOf("t", [turnOf([1], [2, 3])]);
      const paid = (turn: number, token: number, x: number) => ({
        at: { trajectory: "t", turn, span: [token, token + 1] as const },
        value: x,
      });
      const annotated: AnnotatedExperience = {
        ...evidenceOf([]),
        trajectories: [t],
        units: [{ id: "t", group: "g", members: ["t"] }],
        channels: { outcome: [paid(0, 0, r), paid(0, 1, s)] },
      };
      const close = (got: readonly number[], want: readonly number[]) =>
        got.forEach((x, i) => {
          assert.ok(Math.abs(x - want[i]!) < 1e-5, `${got}, expected ${want}`);
        });
      const constant = judged(annotated, () => v);
      close(run({ lambda: 1, discount: 0.9 }, constant).advantage, [r + 0.9 * s - v, s - v]);
      close(run({ lambda: 0, discount: 0.9 }, constant).advantage, [r + 0.9 * v - v, s - v]);
      const perfect = judged(annotated, (a) => (a === 0 ? r + 0.9 * s : s));
      close(run({ lambda: 0.7, discount: 0.9 }, perfect).advantage, [0, 0]);
    }),
    { seed: 4, numRuns: 50 },
  );
});

test("gae: turns without tokens are no steps; a note that is missing is an error; explained variance", () => {
  const spoken = turnOf([1], [2]);
  const { tokens: _none, ...silent } = spoken;
  const t = trajectoryOf("t", [spoken, silent, spoken]);
  const annotated: AnnotatedExperience = {
    ...evidenceOf([]),
    trajectories: [t],
    units: [{ id: "t", group: "g", members: ["t"] }],
    channels: { outcome: [{ at: { trajectory: "t" }, value: 1 }] },
  };
  assert.throws(() => gae().apply(annotated, null, undefined), /note "value"/);
  // targets 1 and 1 − ½ · … at λ = 1, discount ½: 0.5 and 1; the critic is off by 0.25 both times: nothing unexplained
  const { advantage, stats } = run(
    { level: "turn", discount: 0.5, lambda: 1 },
    judged(annotated, (a) => [0.25, 0.75][a]!),
  );
  assert.deepEqual(advantage, [0.25, 0.25]);
  assert.equal(stats.explainedVariance, 1);
});
