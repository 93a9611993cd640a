import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { randomStream } from "../../../core/random.ts";
import { toTrajectory } from "../../../credit/toTrajectory.ts";
import { winProportions } from "./winProportions.ts";

type Beats = readonly (readonly (number | undefined)[])[];

/** Rewards of attempts 0, 1, … of one group, where attempt i beats attempt j with probability beats[i][j], i < j. */
async function rewards(beats: Beats, count: number, options = {}, seed = 1) {
  let calls = 0;
  const ctx = ctxWith(
    {
      compare: async (first, second) => {
        calls++;
        return beats[Number(first.trajectory.id)]?.[Number(second.trajectory.id)];
      },
    },
    { random: randomStream(seed) },
  );
  const trajectories = Array.from({ length: count }, (_, i) => trajectoryOf(`${i}`, [turnOf([1], [2])]));
  const experience = {
    trajectories,
    units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
  };
  const signals = await winProportions(options)(ctx, experience, {});
  const paid = signals.flatMap((s) =>
    s.kind === "reward" ? [[s.about[0]!.trajectory, s.value] as const] : [],
  );
  const of = trajectories.map(({ id }) => paid.find(([about]) => about === id)?.[1]);
  return { of, calls, signals, experience };
}

test("each pair is compared once, for both sides: numbers by hand", async () => {
  // 0 beats 1 with .9 and 2 with .4; 1 beats 2 with .6: (.9 + .4)/2, (.1 + .6)/2, (.6 + .4)/2
  const { of, calls } = await rewards([[undefined, 0.9, 0.4], [undefined, undefined, 0.6], []], 3);
  [0.65, 0.35, 0.5].forEach((want, i) => void assert.ok(Math.abs(of[i]! - want) < 1e-12));
  assert.equal(calls, 3);
});

test("a group's mean is 1/2 whatever the votes, drawn ones too, and the group's centre is r − 1/2", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 6, maxLength: 6 }), {
        minLength: 6,
        maxLength: 6,
      }),
      fc.constantFrom("expected", "drawn"),
      fc.integer({ min: 1, max: 99 }),
      async (beats, votes, seed) => {
        const { of, signals, experience } = await rewards(beats, 6, { votes }, seed);
        assert.ok(Math.abs(of.reduce<number>((a, b) => a + b!, 0) / 6 - 0.5) < 1e-9);
        const annotated = { ...experience, notes: {}, signals };
        const { advantages } = groupNormalised({ scale: "none" }).apply(
          { ...annotated, channels: toTrajectory()(annotated) },
          null,
          undefined,
        );
        of.forEach((r, i) => void assert.ok(Math.abs(advantages.get(`${i}`)![0]! - (r! - 0.5)) < 1e-6));
      },
    ),
    { seed: 7, numRuns: 50 },
  );
});

test("drawn votes are 0 or 1 and come as often as the probability says", async () => {
  let won = 0;
  for (let seed = 0; seed < 400; seed++) {
    const { of } = await rewards([[undefined, 0.8]], 2, { votes: "drawn" }, seed);
    assert.ok(of[0] === 0 || of[0] === 1);
    won += of[0] / 400;
  }
  assert.ok(Math.abs(won - 0.8) < 0.08, `won ${won}`);
});

test("failed comparisons are left out on both sides; without any there is no reward", async () => {
  const { of } = await rewards([[undefined, 0.9, undefined], [undefined, undefined, undefined], []], 3);
  assert.equal(of[0], 0.9);
  assert.ok(Math.abs(of[1]! - 0.1) < 1e-12);
  assert.equal(of[2], undefined);
  assert.deepEqual((await rewards([], 1)).of, [undefined]);
});
