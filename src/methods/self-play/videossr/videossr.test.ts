import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Metadata } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { graded } from "./graded.ts";
import { countGrade, gradeOf, intervalGrade, numbersIn, orderGrade } from "./grades.ts";
import { videossr } from "./method.ts";
import { kindOf, pretexts, truthOf } from "./pretexts.ts";

const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-9, `${got} for ${want}`);

test("intervalGrade: overlap over union of frames", () => {
  near(intervalGrade([2, 5], [4, 7]), 2 / 6); // 4, 5 of 2 … 7
  near(intervalGrade([4, 7], [4, 7]), 1);
  near(intervalGrade([0, 1], [4, 7]), 0);
  near(intervalGrade([7, 4], [4, 7]), 0);
  near(intervalGrade([4], [4, 7]), 0);
});

test("countGrade: one minus the relative error, at least 0, mean over shapes", () => {
  near(countGrade([3, 1], [4, 1]), (0.75 + 1) / 2);
  near(countGrade([9, 0], [4, 2]), 0);
  near(countGrade([1], [0]), 0); // a true 0 counts as 1 in the denominator
  near(countGrade([0, 0], [0, 0]), 1);
  near(countGrade([3], [3, 1]), 0);
});

test("orderGrade: the footrule; 0 for the reverse and for no permutation", () => {
  near(orderGrade([1, 0, 2, 3], [0, 1, 2, 3]), 1 - 2 / 8);
  near(orderGrade([3, 2, 1, 0], [0, 1, 2, 3]), 0);
  near(orderGrade([4, 3, 2, 1, 0], [0, 1, 2, 3, 4]), 0); // 4 + 2 + 0 + 2 + 4 = ⌊25/2⌋
  near(orderGrade([0, 0, 2, 3], [0, 1, 2, 3]), 0);
  near(orderGrade([0, 1, 2], [0, 1, 2, 3]), 0);
});

test("random permutations of four are worth 0.375 on average", () => {
  const all = (rest: readonly number[]): number[][] =>
    rest.length === 0 ? [[]] : rest.flatMap((x) => all(rest.filter((y) => y !== x)).map((p) => [x, ...p]));
  const orders = all([0, 1, 2, 3]);
  near(
    orders.reduce((sum, order) => sum + orderGrade(order, [0, 1, 2, 3]) / orders.length, 0),
    0.375,
  );
});

test("grades lie in [0, 1], and 1 is the exact answer alone", () => {
  const numbers = fc.array(fc.nat(6), { maxLength: 5 });
  fc.assert(
    fc.property(
      fc.constantFrom("counting" as const, "jigsaw" as const),
      numbers,
      numbers,
      (kind, said, truth) => {
        fc.pre(truth.length > 0 && (kind === "counting" || new Set(truth).size === truth.length));
        const grade = gradeOf(kind, said.join(" "), truth);
        assert.ok(grade >= 0 && grade <= 1);
        assert.equal(grade === 1, said.join() === truth.join());
      },
    ),
    { seed: 1, numRuns: 300 },
  );
  assert.equal(numbersIn("1 two"), undefined);
  assert.equal(gradeOf("counting", "1 two", [1, 2]), 0);
});

obeysTheLaws(() => pretexts({ frames: 8, pieces: 4 }), { garbage: 0.2 });

test("pretexts: the answer undoes what was done", () => {
  for (const task of pretexts({ perKind: 20, seed: 5 }).tasks("train")) {
    const shown = task.prompt[0]!.content.split(" ").slice(2);
    const truth = truthOf(task);
    const steps = (video: readonly string[]) =>
      video
        .slice(1)
        .filter((frame, k) => (Number(frame.slice(1)) - Number(video[k]!.slice(1)) + 40) % 40 !== 1);
    if (kindOf(task) === "counting") {
      assert.deepEqual(
        truth,
        ["circle", "square"].map((shape) => shown.filter((s) => s === shape).length),
      );
      assert.deepEqual(steps(shown.filter((frame) => frame.startsWith("t"))), []);
    } else if (kindOf(task) === "grounding") {
      const [from, to] = truth as [number, number];
      const whole = [
        ...shown.slice(0, from),
        ...shown.slice(from, to + 1).toReversed(),
        ...shown.slice(to + 1),
      ];
      assert.deepEqual(steps(whole), []);
      assert.ok(steps(shown).length > 0);
    } else {
      const pieces = shown
        .join(" ")
        .split(/ ?p\d /)
        .slice(1);
      assert.deepEqual(steps(truth.flatMap((piece) => pieces[piece]!.split(" "))), []);
    }
  }
});

test("tasks whose first answers are all worthless or all right are left out", async () => {
  const environment = pretexts({ of: ["grounding"], perKind: 4 });
  const [right, wrong] = environment.tasks("train");
  const trained = new Set<string>();
  const { counters } = await trainInMemory({
    environment,
    engine: tabularEngine({
      prior: (context, word) => {
        if (!/^\d+$/.test(word)) return -1e9;
        const said = context.length - 1 - context.lastIndexOf("<assistant>");
        const seen = context.slice(1, context.lastIndexOf("<assistant>") - 1).join(" ");
        if (seen === right!.prompt[0]!.content) return word === String(truthOf(right!)[said]) ? 50 : 0;
        if (seen === wrong!.prompt[0]!.content)
          return word === "0" && said === 1 ? 50 : word === "9" && said === 0 ? 50 : 0;
        return 0;
      },
    }),
    method: videossr.build({ tasks: 4, groupSize: 4 }, { probes: 12 }),
    seed: 1,
    iterations: 3,
    onIteration: ({ experience }) => {
      for (const { task } of experience.trajectories) trained.add(task);
    },
  });
  assert.deepEqual(
    [...trained].sort(),
    environment
      .tasks("train")
      .slice(2)
      .map(({ id }) => id),
  );
  assert.equal(counters.episodes, 4 * 12 + 3 * 2 * 4); // the probes count
});

test("graded: near answers are worth something; failed episodes and other tasks are not graded", async () => {
  const [task] = pretexts({ of: ["jigsaw"], pieces: 4, frames: 8 }).tasks("train");
  const truth = truthOf(task!);
  const swapped = [truth[1]!, truth[0]!, ...truth.slice(2)];
  const saying = (id: string, content: string) =>
    trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], { task: task!.id });
  const failed = { kind: "failed", boundary: "environment", message: "" } as const;
  const trajectories = [
    saying("right", truth.join(" ")),
    saying("near", swapped.join(" ")),
    { ...saying("failed", truth.join(" ")), end: failed },
  ];
  const grade = (metadata: Metadata) =>
    graded()(ctxOf({ task: () => ({ ...task!, metadata }) }), { trajectories, units: [] }, {});
  const signals = await grade(task!.metadata);
  assert.deepEqual(
    signals.map((signal) => [signal.about[0]!.trajectory, "value" in signal && signal.value]),
    [
      ["right", 1],
      ["near", 0.75], // two pieces are one place off: 1 − 2/8
    ],
  );
  await assert.rejects(grade({}), /tasks of altered videos/);
});
