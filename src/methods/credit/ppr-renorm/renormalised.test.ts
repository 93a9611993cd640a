import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { type RenormalisedOptions, renormalised } from "./renormalised.ts";

/** Trajectories with scores of their turns (undefined: not judged) and an outcome; r per turn, undefined where nothing. */
function apply(
  episodes: readonly { scores: readonly (number | undefined)[]; outcome?: number }[],
  options: RenormalisedOptions = {},
) {
  const trajectories = episodes.map(({ scores }, i) =>
    trajectoryOf(
      `t${i}`,
      scores.map((_, k) => turnOf([1, k], [2])),
    ),
  );
  const signals = episodes.flatMap(({ scores, outcome }, i) => [
    ...scores.flatMap((value, turn) =>
      value === undefined ? [] : [signalOf("process", value, { trajectory: `t${i}`, turn })],
    ),
    ...(outcome === undefined ? [] : [signalOf("outcome", outcome, { trajectory: `t${i}` })]),
  ]);
  const { renormalised: credits = [] } = renormalised(options)({
    trajectories,
    units: [],
    notes: {},
    signals,
  });
  return episodes.map(({ scores }, i) =>
    scores.map((_, k) => credits.find(({ at }) => at.trajectory === `t${i}` && at.turn === k)?.value),
  );
}

const signalOf = (channel: string, value: number, about: { trajectory: string; turn?: number }) =>
  ({ kind: "score", channel, value, about: [about], source: "test" }) as const;

test("renormalised: the table of signs, and the outcome alone at the last turn", () => {
  // 1 + 1 − 1, 0 + 1 − 1, then the outcome; 1 + 0 − 1, 0 + 0 − 1, then the outcome
  assert.deepEqual(
    apply([
      { scores: [1, 0, 1], outcome: 1 },
      { scores: [1, 0, 1], outcome: 0 },
    ]),
    [
      [1, 0, 1],
      [0, -1, 0],
    ],
  );
});

test("renormalised: unjudged turns get nothing, episodes without an outcome neither", () => {
  assert.deepEqual(
    apply([
      { scores: [undefined, 0.5, undefined], outcome: 1 },
      { scores: [1, 1] },
      { scores: [0.25], outcome: 1 },
    ]),
    [[undefined, 0.5, 1], [undefined, undefined], [1]],
  );
});

test("renormalised: centred by the batch, judged turns sum to zero", () => {
  // score + outcome: 2, 1 | 1, 0: mean 1. With two failures it is 1, 1 | 0, 0: mean 0.5
  assert.deepEqual(
    apply(
      [
        { scores: [1, 1, 0], outcome: 0 },
        { scores: [0, 0, 0], outcome: 0 },
      ],
      { centre: "batch" },
    ),
    [
      [0.5, 0.5, 0],
      [-0.5, -0.5, 0],
    ],
  );
});
