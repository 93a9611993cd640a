import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { entropyHistory, historyColumn } from "./entropyHistory.ts";

/** Episodes of one token a turn with these entropies. */
function evidence(entropies: readonly (readonly number[])[]): AnnotatedExperience {
  const trajectories = entropies.map((turns, i) =>
    trajectoryOf(
      `t${i}`,
      turns.map((nats) => {
        const turn = turnOf([1], [2]);
        return { ...turn, tokens: { ...turn.tokens!, entropy: Float32Array.of(nats) } };
      }),
    ),
  );
  return {
    trajectories,
    units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
    notes: {},
    signals: [],
    channels: {},
  };
}

test("the history is a mean over iterations of each turn's mean, and lags one iteration behind", () => {
  const piece = entropyHistory();
  const first = piece.apply(evidence([[1, 0.5], [2]]), piece.init(), undefined);
  for (const xs of first.columns![historyColumn]!.values()) assert.ok(xs.every(Number.isNaN));
  assert.deepEqual(first.next, { mean: [1.5, 0.5], iterations: [1, 1] });

  // turn 0: (1.5 + 0.5)/2; turn 1 was not reached and stays; turn 2 is new in the third iteration
  const second = piece.apply(evidence([[0.5]]), first.next, undefined);
  assert.deepEqual([...second.columns![historyColumn]!.get("t0")!], [1.5]);
  assert.deepEqual(second.next, { mean: [1, 0.5], iterations: [2, 1] });
  const third = piece.apply(evidence([[4, 1.5, 7]]), second.next, undefined);
  assert.deepEqual([...third.columns![historyColumn]!.get("t0")!], [1, 0.5, Number.NaN]);
  assert.deepEqual(third.next, { mean: [2, 1, 7], iterations: [3, 2, 1] });
  assert.equal(third.stats["history.turns"], 3);
});

test("a turn of several tokens counts by its tokens, and they share its history", () => {
  const turn = turnOf([1], [2, 3]);
  const t = trajectoryOf("t", [{ ...turn, tokens: { ...turn.tokens!, entropy: Float32Array.of(0.5, 1.5) } }]);
  const made = { ...evidence([]), trajectories: [t], units: [{ id: "t", group: "g", members: ["t"] }] };
  const { columns, next } = entropyHistory().apply(made, { mean: [3], iterations: [1] }, undefined);
  assert.deepEqual([...columns![historyColumn]!.get("t")!], [3, 3]);
  assert.deepEqual(next, { mean: [2], iterations: [2] });
});

test("advantages pass through, other trajectories are not looked at, state is plain data", () => {
  const soFar = new Map([["t0", Float32Array.of(5)]]);
  const made = evidence([[1], [9]]);
  const { advantages, next } = entropyHistory().apply(
    { ...made, units: made.units.slice(0, 1) },
    entropyHistory().init(),
    soFar,
  );
  assert.equal(advantages, soFar);
  assert.deepEqual(JSON.parse(JSON.stringify(next)), { mean: [1], iterations: [1] });
  assert.equal(entropyHistory().apply(evidence([]), next, undefined).advantages.size, 0);
});
