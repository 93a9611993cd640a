import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { type ImprovementOptions, improvement } from "./improvement.ts";

const answered = (id: string, ...paid: readonly Readonly<Record<string, number>>[]) =>
  trajectoryOf(
    id,
    paid.map((rewards) => turnOf([1], [2], { rewards })),
  );

async function bonuses(options: ImprovementOptions = {}) {
  const trajectories = [
    answered("mended", { outcome: 0 }, { outcome: 1 }),
    answered("broken", { outcome: 1 }, {}),
    answered("kept", { outcome: 1, form: 0.5 }, { outcome: 1 }),
    answered("thrice", { outcome: 0.5 }, { outcome: 0.25 }, { outcome: 1 }),
    answered("once", { outcome: 1 }),
    {
      ...answered("failed", {}, { outcome: 1 }),
      end: { kind: "failed", boundary: "tool", message: "" } as const,
    },
  ];
  const signals = await improvement(options)(ctxOf({}), { trajectories, units: [] }, {});
  return signals.map((s) => [s.about[0]!.trajectory, s.about[0]!.turn, s.kind === "reward" && s.value]);
}

test("improvement is worked by hand: ten times each difference, at the later answer", async () => {
  assert.deepEqual(await bonuses(), [
    ["mended", 1, 10],
    ["broken", 1, -10],
    ["kept", 1, -5],
    ["thrice", 1, -2.5],
    ["thrice", 2, 7.5],
  ]);
});

test("improvement: the factor and what an answer is worth can be set", async () => {
  const got = await bonuses({ factor: 2, rewards: ["outcome"] });
  assert.deepEqual(
    got.map(([, , value]) => value),
    [2, -2, 0, -0.5, 1.5],
  );
});
