import assert from "node:assert/strict";
import { test } from "node:test";
import type { Play } from "../../src/core/context.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Ending, Trajectory } from "../../src/core/types.ts";
import { type Critiqued, critiqued } from "../../src/rollout/critiqued.ts";
import { critiquing, ctxWith, trajectoryOf, turnOf } from "../core/make.ts";

/** ½ for a true verdict and 1 for what is right after it, else −1. */
const paying = ({ verdict, right, refined }: Critiqued): number => (verdict === right ? refined + 0.5 : -1);

const over = (success: boolean): Ending => ({ kind: "done", reason: "over", success });
const attempt = (id: string, end: Ending): Trajectory => trajectoryOf(id, [turnOf([1], [2])], { end });

/** Says these in turn about each attempt. */
const saying = (texts: readonly string[]) => {
  const said = new Map<string, number>();
  return critiquing(({ id }) => {
    const k = said.get(id) ?? 0;
    said.set(id, k + 1);
    const text = texts[k]!;
    const turn = turnOf([5], [6], { action: { role: "assistant", content: text }, model: "critic" });
    const outcome = { RIGHT: "success", WRONG: "failure" } as const;
    const verdict = outcome[text.split(" ")[0] as keyof typeof outcome];
    return {
      text,
      ...(verdict && { outcome: verdict }),
      written: trajectoryOf(`${id}/critique`, [turn], { role: "critiquer" }),
    };
  });
};

async function run(refinements: number, ...endings: readonly Ending[]) {
  const plays: Play[] = [];
  const ctx = ctxWith(
    {},
    {
      random: randomStream(1),
      count: () => undefined,
      play: async (play) => {
        plays.push(play);
        return [attempt(`again ${play.attempt}`, endings[play.attempt % endings.length]!)];
      },
    },
  );
  const first = async () => ({
    trajectories: [attempt("good", over(true)), attempt("bad", over(false)), attempt("apart", over(true))],
    units: ["good", "bad"].map((id) => ({ id, group: "task", members: [id] })),
  });
  const writer = saying(["RIGHT", "WRONG a1", "hm"]);
  const options = { writer, critiques: 3, refinements, rate: paying, temperature: 0 };
  const { trajectories, units, stats } = await critiqued(first, options)(ctx);
  const paid = units.map(({ id }) => trajectories.find((t) => t.id === id)!.turns[0]!.rewards.rating);
  return { plays, units, paid, stats };
}

test("critiques on one attempt are a group; only what is called wrong is refined, once for each critique", async () => {
  const { plays, units, paid, stats } = await run(1, over(true));
  assert.deepEqual(
    units.map(({ group }) => group),
    ["good", "good", "good", "bad", "bad", "bad"],
  );
  assert.equal(new Set(units.map(({ id }) => id)).size, 6);
  // good: true verdict and kept; false verdict; none. bad: false verdict; true verdict and repaired; none
  assert.deepEqual(paid, [1.5, -1, -1, -1, 1.5, -1]);
  assert.equal(plays.length, 2);
  assert.equal(new Set(plays.map((p) => p.attempt)).size, 2);
  assert.ok(plays.every((p) => p.attempt >= 3 && p.temperature === 0));
  assert.match(String(plays[0]!.advice), /\n2\nWRONG a1$/);
  const near = { first: 1 / 2, "verdict.right": 1 / 3, "verdict.wrong": 1 / 3, refined: 4 / 6 };
  assert.deepEqual(stats, { ...near, repaired: 1 / 3, broken: 0 });
});

test("a wrong refinement breaks a right attempt; without refinement the actor is not asked", async () => {
  const { stats, paid } = await run(1, over(false));
  assert.deepEqual([stats?.refined, stats?.repaired, stats?.broken], [2 / 6, 0, 1 / 3]);
  assert.deepEqual(paid, [1.5, -1, -1, -1, 0.5, -1]);
  const alone = await run(0, over(true));
  assert.deepEqual([alone.plays.length, alone.stats?.refined], [0, undefined]);
  assert.deepEqual(alone.paid, [1.5, -1, -1, -1, 0.5, -1]);
});

test("a critique whose refinement failed is not learnt from", async () => {
  const { units } = await run(1, { kind: "failed", boundary: "environment", message: "gone" });
  assert.equal(units.length, 4);
});

test("several refinements: the share that is right, of those that did not fail", async () => {
  const failed: Ending = { kind: "failed", boundary: "environment", message: "gone" };
  // the first of three episodes each is right, the second wrong, the third fails
  const { plays, paid, stats, units } = await run(3, over(true), over(false), failed);
  assert.equal(plays.length, 6);
  assert.equal(new Set(plays.map((p) => p.attempt)).size, 6);
  assert.deepEqual(paid, [1.5, -1, -1, -1, 1, -1]);
  assert.deepEqual([stats?.repaired, stats?.broken, units.length], [0.5 / 3, 0.5 / 3, 6]);
});
