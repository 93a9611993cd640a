import assert from "node:assert/strict";
import { test } from "node:test";
import { studentCdf } from "../../src/common/statistics/statistics.ts";
import { randomStream } from "../../src/core/random.ts";
import {
  disagreement,
  freshWatch,
  isBestAudited,
  type WatchState,
  watched,
  watchStateSchema,
} from "../../src/diagnose/watch.ts";

/** A run of blocks of one iteration each. */
const after = (
  iterations: readonly {
    readonly paid: readonly number[];
    readonly audits: readonly number[];
    readonly noise?: readonly number[];
    readonly diversity?: number;
  }[],
  rule = { every: 1, error: 0.05 },
): WatchState =>
  iterations.reduce<WatchState>(
    (state, seen, i) => watched(state, { iteration: i + 1, ...seen }, rule),
    freshWatch,
  );

const wave = (n: number, from: number) => Array.from({ length: n }, (_, i) => from + (i % 2));

test("an alarm says what rose and what fell, with Welch's probability, corrected for what was compared", () => {
  // audits 5, 6, 5, 6 and 1, 2, 1, 2: drop −4, variances 1/3, so t = −4 / √(2 · (1/3)/4) = −9.798 with 6 degrees of freedom
  const { alarm } = after([
    { paid: [0, 2], audits: wave(4, 5) },
    { paid: [2, 4], audits: wave(4, 1) },
  ]);
  assert.ok(alarm);
  const p = studentCdf(-4 / Math.sqrt(1 / 6), 6);
  // the first comparison has the level 0.05 · 6/π²
  assert.ok(Math.abs(alarm.p - (p * Math.PI ** 2) / 6) < 1e-12, `${alarm.p}`);
  assert.deepEqual(
    { ...alarm, p: 0 },
    { why: "audit", iteration: 2, since: [0, 1], paid: [1, 3], audit: [5.5, 1.5], p: 0 },
  );
});

test("no alarm where audits rise, where what is paid falls with them, or where a fall may be chance", () => {
  const early = { paid: [0, 2], audits: wave(4, 5) };
  assert.equal(after([early, { paid: [2, 4], audits: wave(4, 7) }]).alarm, null);
  assert.equal(after([early, { paid: [-2, 0], audits: wave(4, 1) }]).alarm, null);
  assert.equal(after([early, { paid: [2, 4], audits: [1] }]).alarm, null); // one audit tells nothing
  assert.equal(after([early, { paid: [2, 4], audits: [] }]).alarm, null);
  assert.equal(
    after([
      { paid: [0], audits: [1, 1] },
      { paid: [1], audits: [0, 0] },
    ]).alarm,
    null,
  ); // two equal labels are no certainty
  assert.notEqual(
    after([
      { paid: [0], audits: Array<number>(40).fill(1) },
      { paid: [1], audits: Array<number>(40).fill(0) },
    ]).alarm,
    null,
  );
});

test("iterations of one block count together, and the first alarm stays", () => {
  const seen = [
    ...Array.from({ length: 4 }, () => ({ paid: [0], audits: [4, 6] })),
    ...Array.from({ length: 4 }, () => ({ paid: [1], audits: [1, 3] })),
    ...Array.from({ length: 4 }, () => ({ paid: [2], audits: [-9, -8] })),
  ];
  const rule = { every: 4, error: 0.05 };
  assert.equal(after(seen.slice(0, 7), rule).alarm, null);
  const first = after(seen.slice(0, 8), rule).alarm;
  assert.deepEqual([first?.iteration, first?.since, first?.paid], [8, [0, 4], [0, 1]]);
  assert.deepEqual(after(seen, rule).alarm, first);
});

test("an alarm by chance is as rare as asked, in long runs whose audits stay level and whose rewards rise", () => {
  const runs = 400;
  let alarms = 0;
  for (let r = 0; r < runs; r++) {
    const random = randomStream(1).split("run", r);
    const seen = Array.from({ length: 100 }, (_, i) => ({
      paid: [i],
      audits: Array.from({ length: 8 }, () => Number(random.next() < 0.6)),
    }));
    alarms += Number(after(seen, { every: 4, error: 0.05 }).alarm !== null);
  }
  // at most 0.05 · 400 = 20 expected; 32 is three deviations above
  assert.ok(alarms <= 32, `${alarms} of ${runs}`);
});

test("a collapse: answers half as different, and as many rewards wrong as at first, more than a quarter", () => {
  const block = (diversity: number, wrong: number) => ({
    ...{ paid: [1], audits: [0.3, 0.4], diversity },
    noise: Array.from({ length: 10 }, (_, i) => Number(i < wrong)),
  });
  const { alarm } = after([block(0.6, 5), block(0.4, 6), block(0.3, 6)]);
  assert.deepEqual(alarm, {
    ...{ why: "collapse", iteration: 3, since: [0, 1], paid: [1, 1], audit: [0.35, 0.35] },
    ...{ diversity: [0.6, 0.3], noise: [0.5, 0.6], p: 0.6 },
  });
  assert.equal(after([block(0.6, 5), block(0.31, 9)]).alarm, null, "not alike");
  assert.equal(after([block(0.6, 5), block(0.1, 4)]).alarm, null, "labels got better");
  assert.equal(after([block(0.6, 1), block(0.1, 2)]).alarm, null, "few are wrong");
  assert.equal(after([block(0.6, 0), { paid: [1], audits: [1, 1] }]).alarm, null, "nothing known");
});

test("the best audited block is the latest one with the highest mean, and the state survives JSON", () => {
  const rising = after([
    { paid: [0], audits: [1, 2] },
    { paid: [0], audits: [3, 4] },
  ]);
  assert.ok(isBestAudited(rising));
  assert.ok(!isBestAudited(watched(rising, { iteration: 3, paid: [0], audits: [2, 2] }, { every: 1 })));
  assert.ok(
    !isBestAudited(watched(rising, { iteration: 3, paid: [0], audits: [9] }, { every: 2 })),
    "not over yet",
  );
  assert.deepEqual(watchStateSchema.parse(JSON.parse(JSON.stringify(rising))), rising);
  // a state of a run that began before noise and diversity were kept
  const { noise: _, diversity: __, ...older } = rising.blocks[0]!;
  assert.deepEqual(watchStateSchema.parse({ ...rising, blocks: [older] }).blocks[0]!.noise, {
    ...{ n: 0, sum: 0, squares: 0 },
  });
});

test("disagreement is in deviations of each model's own scores at the beginning", () => {
  const at = [
    { mean: 0, deviation: 1 },
    { mean: 10, deviation: 5 },
  ];
  // 1 and (15 − 10)/5 = 1 agree; 3 and 1 differ by 2: deviation √2
  assert.ok(
    Math.abs(
      disagreement(
        [
          [1, 3],
          [15, 15],
        ],
        at,
      ) -
        Math.SQRT2 / 2,
    ) < 1e-12,
  );
  assert.ok(Number.isNaN(disagreement([[1, 3]], at)));
  assert.ok(Number.isNaN(disagreement([[], []], at)));
});
