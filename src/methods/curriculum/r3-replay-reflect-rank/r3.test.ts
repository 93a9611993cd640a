import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Ending, Task, Trajectory } from "../../../core/types.ts";
import { entropiesOf, entropyRanks, rankRewards } from "./entropyRanks.ts";
import { missingOutcome } from "./missingOutcome.ts";
import { mixedNormalised } from "./mixedNormalised.ts";
import { reflecting, reflection } from "./reflecting.ts";

const ended = (success: boolean): Ending => ({ kind: "done", reason: "over", success });
const attempts = (...successes: readonly boolean[]) =>
  successes.map((success, i) => trajectoryOf(`${i}`, [turnOf([1], [2])], { end: ended(success) }));
const [yes, no] = [true, false];

test("missingOutcome: successes join a group that fails, failures one that succeeds, nothing a mixed one", () => {
  const joins = missingOutcome(2);
  assert.deepEqual(joins(attempts(no, no)), { outcome: "success", count: 2, replaces: false });
  assert.deepEqual(joins(attempts(yes)), { outcome: "failure", count: 2, replaces: false });
  assert.equal(joins(attempts(yes, no)), undefined);
});

test("mixedNormalised: eight failures and a success of old; α and λ in the divisor", () => {
  const { advantages, stats } = mixedNormalised({ lambda: 0 }).apply(
    evidenceOf([[0, 0, 0, 0, 0, 0, 0, 0, 1]]),
    null,
    undefined,
  );
  // mean 1/9, deviation √8/9: 8/√8 = √8 and −1/√8
  assert.ok(Math.abs(advantages.get("0.8")![0]! - Math.sqrt(8)) < 1e-6);
  assert.ok(Math.abs(advantages.get("0.0")![0]! + 1 / Math.sqrt(8)) < 1e-6);
  assert.equal(stats.deadGroups, 0);
  const half = mixedNormalised({ alpha: 2, lambda: 0.5 }).apply(evidenceOf([[0, 1]]), null, undefined);
  // deviation ½: ½ / (1 + ½)
  assert.ok(Math.abs(half.advantages.get("0.1")![0]! - 1 / 3) < 1e-6);
});

test("mixedNormalised: bounded, and zero in a group of equal rewards", () => {
  const many = Array.from({ length: 20 }, (_, i) => Number(i === 0));
  const { advantages } = mixedNormalised().apply(evidenceOf([many]), null, undefined);
  assert.equal(advantages.get("0.0")![0], 3); // √19 without the bound
  const dead = mixedNormalised().apply(evidenceOf([[0.2, 0.2]]), null, undefined);
  assert.deepEqual([...dead.advantages.get("0.0")!], [0, 0]);
  assert.equal(dead.stats.deadGroups, 1);
});

test("rankRewards: by the number dominated, ties at their mean rank", () => {
  const a = { peak: 3, mean: 0.1 }; // dominates b, c
  const b = { peak: 2, mean: 0.2 }; // dominates nobody: c's mean is lower
  const c = { peak: 1, mean: 0.15 };
  const near = (got: readonly number[], want: readonly number[]): void => {
    assert.equal(got.length, want.length);
    for (const [i, x] of want.entries()) assert.ok(Math.abs(got[i]! - x) < 1e-12, `${got}`);
  };
  // ranks 0, 1.5, 1.5 of 2
  near(rankRewards([a, b, c], 0.2), [0.2, 0.05, 0.05]);
  near(rankRewards([b, c], 1), [0.5, 0.5]);
  near(rankRewards([a], 1), [0]);
  near(rankRewards([], 1), []);
});

test("entropiesOf: the mean of the highest fifth, at least one token, and the mean of all", () => {
  const turn = turnOf([1], [1, 2, 3, 4]);
  const entropy = Float32Array.of(1, 4, 0, 3);
  const t = trajectoryOf("t", [{ ...turn, tokens: { ...turn.tokens!, entropy } }]);
  assert.deepEqual(entropiesOf(t, 0.2), { peak: 4, mean: 2 });
  assert.deepEqual(entropiesOf(t, 0.5), { peak: 3.5, mean: 2 });
  assert.equal(entropiesOf(trajectoryOf("t", [turn]), 0.5), undefined);
});

test("entropyRanks: truncated attempts of groups that fail alone", async () => {
  const of = (id: string, nats: readonly number[], end: Ending): Trajectory => {
    const turn = turnOf([1], [1, 2]);
    return trajectoryOf(id, [{ ...turn, tokens: { ...turn.tokens!, entropy: Float32Array.from(nats) } }], {
      end,
    });
  };
  const cut: Ending = { kind: "truncated", limit: "tokens", at: 2 };
  const failing = [of("a", [3, 0], cut), of("b", [2, 2], cut), of("c", [9, 0], ended(no))];
  const winning = [of("d", [3, 0], cut), of("e", [2, 2], ended(yes))];
  const trajectories = [...failing, ...winning];
  const units = trajectories.map(({ id }) => ({
    id,
    group: failing.some((t) => t.id === id) ? "f" : "w",
    members: [id],
  }));
  const signals = await entropyRanks({ most: 0.2 })(ctxOf({}), { trajectories, units }, {});
  assert.deepEqual(
    signals.map((s) => [s.about[0]!.trajectory, s.kind === "reward" && s.value, s.channel]),
    [
      ["a", 0.2, "outcome"],
      ["b", 0, "outcome"],
    ],
  );
});

/** Plain attempts by iteration; what was asked with a reflection succeeds. */
async function reflectedAfter(visits: readonly (readonly boolean[])[], below = 0.25) {
  const kept = new Map<string, Json>();
  const asked: Play[][] = [];
  const tasks: Task[] = [{ id: "task", prompt: [], metadata: {}, seed: 1 }];
  for (const [iteration, successes] of visits.entries()) {
    const rollout: Rollout = async () => {
      const trajectories = successes.map((success, i) =>
        trajectoryOf(`${iteration}/${i}`, [turnOf([1], [7, i])], { end: ended(success) }),
      );
      return { trajectories, units: trajectories.map(({ id }) => ({ id, group: "task", members: [id] })) };
    };
    const plays: Play[] = [];
    asked.push(plays);
    const ctx = ctxOf({
      tasks,
      memory: {
        get: (key) => JSON.parse(JSON.stringify(kept.get(key) ?? null)),
        set: (key, value) => void kept.set(key, value),
      },
      play: async (play) => {
        plays.push(play);
        return [trajectoryOf(`${iteration}/again ${play.attempt}`, [turnOf([1], [2])], { end: ended(yes) })];
      },
    });
    const made = await reflecting(rollout, { groupSize: 2, below })(ctx);
    assert.equal(made.units.length, successes.length + plays.length);
    assert.ok(made.units.slice(successes.length).every(({ group }) => group === "task/reflected"));
  }
  return asked;
}

test("reflecting: from the second visit on, with a wrong attempt, where past success is low", async () => {
  const asked = await reflectedAfter([
    [no, no],
    [yes, no],
    [no, no],
  ]);
  assert.deepEqual(
    asked.map((plays) => plays.length),
    [0, 2, 0],
  ); // past success 0, then ¼, which is not below it
  assert.deepEqual(asked[1]![0]!.advice, [
    { role: "assistant", content: "7 1" },
    { role: "user", content: reflection },
  ]);
});

test("reflecting: reflected attempts count for no past success", async () => {
  const asked = await reflectedAfter([[no], [no], [no]]);
  assert.deepEqual(
    asked.map((plays) => plays.length),
    [0, 2, 2],
  );
});
