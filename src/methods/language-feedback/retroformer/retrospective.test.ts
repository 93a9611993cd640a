import assert from "node:assert/strict";
import { test } from "node:test";
import { critiquing, ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import type { Able } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Ending, Message, Trajectory } from "../../../core/types.ts";
import { type RetrospectiveOptions, retrospective } from "./retrospective.ts";

const over = (success: boolean): Ending => ({ kind: "done", reason: "over", success });
const attempt = (id: string, outcome: number, end: Ending = over(outcome >= 1)): Trajectory =>
  trajectoryOf(id, [turnOf([1], [2], { rewards: { outcome } })], { end });

/** Two attempts, of which the second one succeeded, and one that belongs to no unit. */
const first: Rollout = async () => ({
  trajectories: [attempt("a", 0.25), attempt("b", 1), attempt("apart", 0)],
  units: ["a", "b"].map((id) => ({ id, group: "task", members: [id] })),
  stats: { own: 7 },
});

/** Writes "hint 1", "hint 2"… in the order in which it is asked. */
function hints(): { writer: Able<"critique">; about: string[] } {
  const about: string[] = [];
  const writer = critiquing((t) => {
    about.push(t.id);
    const text = `hint ${about.length}`;
    const turn = turnOf([5], [6], { action: { role: "assistant", content: text }, model: "reflector" });
    return { text, written: trajectoryOf(`${t.id}/critique`, [turn], { role: "critiquer" }) };
  });
  return { writer, about };
}

/** What the n-th further episode pays, by its number; an ending of its own if it fails. */
async function played(
  options: Omit<RetrospectiveOptions, "writer">,
  pays: (play: Play, n: number) => number | "fails",
  writer = hints(),
) {
  const plays: Play[] = [];
  const ctx = ctxWith(
    {},
    {
      random: randomStream(1),
      play: async (play) => {
        plays.push(play);
        const outcome = pays(play, plays.length);
        const broke: Ending = { kind: "failed", boundary: "environment", message: "broke" };
        return [
          outcome === "fails"
            ? attempt(`retry ${play.attempt}`, 0, broke)
            : attempt(`retry ${play.attempt}`, outcome),
        ];
      },
    },
  );
  const experience = await retrospective(first, { writer: writer.writer, ...options })(ctx);
  const rewardOf = (id: string): number | undefined =>
    experience.trajectories.find((t) => t.id === id)?.turns.at(-1)?.rewards.rating;
  const said = plays.map(({ advice }) => ((advice ?? []) as readonly Message[]).map((m) => m.content));
  return {
    ...experience,
    plays,
    said,
    about: writer.about,
    ratings: experience.units.map((u) => rewardOf(u.id)),
  };
}

test("a reflection is paid the rise of the return after it, and is all that is learnt from", async () => {
  const { units, ratings, trajectories, stats, plays, said } = await played({}, () => 0.75);
  assert.deepEqual(units, [{ id: "a/reflection 0", group: "a", members: ["a/reflection 0"] }]);
  assert.deepEqual(ratings, [0.5]);
  assert.deepEqual(said, [["hint 1"]]);
  // three trajectories of the rollout: further episodes are numbered from there on
  assert.deepEqual(
    plays.map((p) => p.attempt),
    [3],
  );
  assert.deepEqual(
    trajectories.map((t) => t.id),
    ["a", "b", "apart", "retry 3", "a/reflection 0"],
  );
  assert.deepEqual(stats, { own: 7, reflections: 0.5, rating: 0.5, repaired: 0 });
  assert.deepEqual((await played({ rating: "after" }, () => 0.75)).ratings, [0.75]);
});

test("retries go on from the last attempt with the last reflections, until the task is solved", async () => {
  const four = await played({ retries: 4, memory: 2 }, (_play, n) => [0.5, 0.25, 0.5, 0.75][n - 1]!);
  assert.deepEqual(four.said, [["hint 1"], ["hint 1", "hint 2"], ["hint 2", "hint 3"], ["hint 3", "hint 4"]]);
  assert.deepEqual(four.ratings, [0.25, -0.25, 0.25, 0.25]);
  assert.deepEqual(four.about, ["a", "retry 3", "retry 5", "retry 7"]);
  const solved = await played({ retries: 4 }, (_play, n) => (n === 2 ? 1 : 0.25));
  assert.deepEqual(solved.ratings, [0, 0.75]);
  assert.equal(solved.stats?.repaired, 0.5);
});

test("reflections on one attempt are a group, rated by the mean of their runs; no two episodes share a number", async () => {
  const { units, ratings, plays } = await played({ reflections: 2, runs: 2 }, ({ attempt: n }) =>
    n === 3 || n === 5 ? 0.25 : n === 7 ? 0.5 : 1,
  );
  assert.deepEqual(
    units.map((u) => [u.id, u.group]),
    [
      ["a/reflection 0", "a"],
      ["a/reflection 1", "a"],
    ],
  );
  // (1/4 + 1/4)/2 − 1/4 and (1/2 + 1)/2 − 1/4
  assert.deepEqual(ratings, [0, 0.5]);
  assert.equal(new Set(plays.map((p) => p.attempt)).size, 4);
});

test("what nobody could read or play is no unit", async () => {
  assert.deepEqual((await played({ retries: 3 }, () => "fails")).units, []);
  const silent = { writer: critiquing(() => undefined), about: [] };
  const { units, plays, stats } = await played({ retries: 3 }, () => 1, silent);
  assert.deepEqual([units, plays, stats], [[], [], { own: 7, reflections: 0 }]);
});
