import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { satoriCoat } from "./method.ts";
import { beginningOf, reflect, restartReward } from "./restarted.ts";
import { retraced, retracedPolicy } from "./retraced.ts";

obeysTheLaws(() => retraced(1), { garbage: 0.1 });

const attempt = (id: string, turns: number, success: boolean): Trajectory =>
  trajectoryOf(
    id,
    Array.from({ length: turns }, () => turnOf([1], [2])),
    { end: { kind: "done", reason: "over", success } },
  );

test("beginningOf: right and wrong attempts in equal shares, from one turn to all but one", () => {
  const stored = {
    right: [attempt("r", 4, true)],
    wrong: [attempt("w1", 3, false), attempt("w2", 3, false), attempt("short", 1, false)],
  };
  const drawn = Array.from({ length: 400 }, (_, i) => beginningOf(stored, randomStream(i))!);
  const right = drawn.filter((one) => one.attempt.id === "r");
  assert.ok(Math.abs(right.length / 400 - 0.5) < 0.08, `${right.length}`);
  assert.deepEqual([...new Set(right.map(({ turns }) => turns))].toSorted(), [1, 2, 3]);
  assert.ok(!drawn.some((one) => one.attempt.id === "short"), "nothing can be cut from a single turn");
  assert.equal(beginningOf({ right: [], wrong: [attempt("short", 1, false)] }, randomStream(1)), undefined);
});

test("restartReward: half for right, minus half for wrong, and the change of a beginning's outcome", async () => {
  const ctx = ctxOf({
    memory: { get: () => ({ repaired: false, spoilt: true, kept: true, lost: false }), set: () => {} },
  });
  const ended: readonly (readonly [string, boolean])[] = [
    ["fresh", true],
    ["missed", false],
    ["repaired", true],
    ["spoilt", false],
    ["kept", true],
    ["lost", false],
  ];
  const trajectories = ended.map(([id, success]) => attempt(id, 2, success));
  const signals = await restartReward(0.3)(ctx, { trajectories, units: [] }, {});
  const values = Object.fromEntries(
    signals.map((signal) => [signal.about[0]!.trajectory, "value" in signal ? signal.value : undefined]),
  );
  assert.deepEqual(values, {
    fresh: 0.5,
    missed: -0.5,
    repaired: 0.8,
    spoilt: -0.8,
    kept: 0.5,
    lost: -0.5,
  });
});

test("attempts restart from earlier ones, which stay as they were, with the word to reflect", async () => {
  const known = new Map<string, Trajectory>();
  let restarts = 0;
  const { curve } = await trainInMemory({
    environment: retraced(1),
    engine: tabularEngine(retracedPolicy(1)),
    method: satoriCoat.build({ tasks: 12, groupSize: 4 }, { restarts: 0.5 }),
    seed: 1,
    iterations: 3,
    onIteration: ({ experience: { trajectories } }) => {
      for (const t of trajectories) {
        known.set(t.id, t);
        if (!t.lineage) continue;
        restarts++;
        const { turn, parent } = t.lineage;
        const from = known.get(parent)!;
        assert.deepEqual(
          t.turns.slice(0, turn).map(({ action }) => action.content),
          from.turns.slice(0, turn).map(({ action }) => action.content),
        );
        assert.equal(t.turns[turn]!.prompt.at(-1)!.content, reflect);
      }
    },
  });
  assert.equal(curve[0]!.restarted, 0);
  assert.ok(Math.abs(curve[2]!.restarted! - 0.5) < 0.25, `${curve[2]!.restarted}`);
  assert.ok(restarts > 20);
});
