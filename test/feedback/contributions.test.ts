import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ctx, Helper } from "../../src/core/context.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Trajectory } from "../../src/core/types.ts";
import { type ContributionsOptions, contributions } from "../../src/feedback/contributions.ts";
import { ridge } from "../../src/helper/ridge.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

type Fitted = { readonly x: Readonly<Record<string, number>>; readonly y: number; readonly weight: number };

/** A context of that iteration, whose helper remembers what it was fitted with. */
function at(iteration: number, helper = ridge({ strength: 1e-6 })()) {
  const fitted: Fitted[] = [];
  const watched = {
    ...helper,
    fit: (rows: readonly Fitted[]) => {
      fitted.push(...rows);
      return helper.fit(rows);
    },
  };
  const ctx: Ctx = ctxOf({
    clock: { iteration, phase: "train", step: 0 },
    random: randomStream(1),
    helper: <In, Label, Out>() => watched as unknown as Helper<In, Label, Out>,
  });
  return { ctx, fitted, helper };
}

/** Episodes by their actions; the outcome is paid at the last turn. */
const episode = (id: string, actions: readonly string[], outcome: number): Trajectory =>
  trajectoryOf(
    id,
    actions.map((content, k) =>
      turnOf([1], [2], {
        stateKey: "here",
        action: { role: "assistant", content },
        rewards: { executable: content === "idle" ? 0 : 1, ...(k === actions.length - 1 && { outcome }) },
      }),
    ),
  );
const trajectories = [
  episode("both", ["push", "pull"], 3),
  episode("once", ["push"], 1),
  episode("idles", ["idle", "push"], 1),
];
const apply = async (ctx: Ctx, options: ContributionsOptions) =>
  (await contributions(options)(ctx, { trajectories, units: [] }, {})).map((s) =>
    s.kind === "reward" ? Math.round(1000 * s.value) / 1000 + 0 : Number.NaN,
  );

test("contributions: learns from sums while it explores and says nothing, then pays each turn its part", async () => {
  const exploring = at(1);
  assert.deepEqual(await apply(exploring.ctx, { explore: 2 }), []);
  assert.deepEqual(
    exploring.fitted.map(({ x, y }) => [x, y]),
    [
      [{ "here : push": 1, "here : pull": 1 }, 3],
      [{ "here : push": 1 }, 1],
      [{ "here : idle": 1, "here : push": 1 }, 1],
    ],
  );
  // push is worth 1, so pull 2 and idling 0
  const later = at(2, exploring.helper);
  assert.deepEqual(await apply(later.ctx, { explore: 2 }), [1, 2, 1, 0, 1]);
  assert.deepEqual(await apply(later.ctx, { explore: 2, weight: 2, fine: 0.5 }), [2, 4, 2, -0.5, 2]);
  assert.deepEqual(later.fitted, []);
});

test("contributions: refitted, it learns from each batch before it judges it", async () => {
  const { ctx, fitted } = at(0);
  assert.deepEqual(await apply(ctx, { explore: 0, refit: true }), [1, 2, 1, 0, 1]);
  assert.equal(fitted.length, 3);
});

test("contributions: by samples, the mean of K turns against the outcome per turn", async () => {
  const { ctx, fitted } = at(0);
  await apply(ctx, { explore: 1, sample: { steps: 1, draws: 2 } });
  assert.equal(fitted.length, 6);
  for (const { x, weight } of fitted) {
    assert.equal(Object.keys(x).length, 1);
    assert.equal(weight, 0.5);
  }
  // R / T: 3/2 for two turns, 1 for one, 1/2 for two
  assert.deepEqual(
    fitted.map(({ y }) => y),
    [1.5, 1.5, 1, 1, 0.5, 0.5],
  );
  // K beyond the length takes all turns
  const whole = at(0);
  await apply(whole.ctx, { explore: 1, sample: { steps: 9, draws: 1 } });
  assert.deepEqual(whole.fitted[0], { x: { "here : push": 0.5, "here : pull": 0.5 }, y: 1.5, weight: 1 });
});

test("contributions: failed episodes teach nothing and get no signal", async () => {
  const { ctx, fitted } = at(0);
  const end = { kind: "failed", boundary: "environment", message: "down" } as const;
  const broken = { ...episode("broken", ["push"], 1), end };
  const signals = await contributions({ explore: 0, refit: true })(
    ctx,
    { trajectories: [broken], units: [] },
    {},
  );
  assert.deepEqual([signals, fitted], [[], []]);
});
