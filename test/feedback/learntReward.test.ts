import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ctx, Helper } from "../../src/core/context.ts";
import type { Json } from "../../src/core/json.ts";
import { learntReward } from "../../src/feedback/learntReward.ts";
import { crossedWords } from "../../src/helper/crossedWords.ts";
import { ctxWith, trajectoryOf, turnOf } from "../core/make.ts";

/** A helper that predicts the mean of what it heard, and shows what it was fitted to. */
function recording() {
  const fits: (readonly (number | null)[])[] = [];
  const helper: Helper<unknown, number | null, number> = {
    async fit(rows) {
      fits.push(rows.map(({ y }) => y));
      return {};
    },
    async predict(xs) {
      const heard = (fits.at(-1) ?? []).flatMap((y) => (y === null ? [] : [y]));
      return xs.map(() => heard.reduce((a, b) => a + b / heard.length, 0));
    },
  };
  const memory = new Map<string, Json>();
  const ctx = ctxWith(
    {},
    {
      // the test's own helper has the types that the piece asks for
      helper: (() => helper) as unknown as Ctx["helper"],
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    },
  );
  return { fits, ctx };
}

const said = (id: string, rewards: Readonly<Record<string, number>>) =>
  trajectoryOf(id, [turnOf([1], [2], { rewards })]);
const features = () => ({ a: 1 });
const unknown = { a: 0 };
const experience = (...trajectories: ReturnType<typeof said>[]) => ({ trajectories, units: [] });

test("fits to what was said and what was not, then scores everything", async () => {
  const { fits, ctx } = recording();
  const piece = learntReward({ features });
  const failed = trajectoryOf("d", [turnOf([1], [2])], {
    end: { kind: "failed", boundary: "model", message: "gone" },
  });
  const signals = await piece(
    ctx,
    experience(said("a", { thumb: 1 }), said("b", {}), said("c", { thumb: 0 }), failed),
    {},
  );
  assert.deepEqual(fits, [[1, null, 0]]);
  assert.deepEqual(
    signals.map((s) => [s.kind, s.channel, s.about[0]!.trajectory, "value" in s ? s.value : undefined]),
    [
      ["score", "reward", "a", 0.5],
      ["score", "reward", "b", 0.5],
      ["score", "reward", "c", 0.5],
    ],
  );
});

test("what went before stays in memory, the last rows alone; a helper that is ready is not fitted", async () => {
  const { fits, ctx } = recording();
  const piece = learntReward({ features, keep: 3 });
  await piece(ctx, experience(said("a", { thumb: 1 }), said("b", {})), {});
  await piece(ctx, experience(said("c", { thumb: 0 }), said("d", { thumb: 1 })), {});
  assert.deepEqual(fits, [
    [1, null],
    [null, 0, 1],
  ]);
  const ready = recording();
  await learntReward({ features: (_ctx, { id }) => (id === "a" ? unknown : features()), keep: 0 })(
    ready.ctx,
    experience(said("a", { thumb: 1 })),
    {},
  );
  assert.deepEqual(ready.fits, []);
});

test("crossedWords: each word of the reply, and each pair with a word asked, once", () => {
  assert.deepEqual(crossedWords("hurry  sleep", "go go"), { go: 1, "hurry → go": 1, "sleep → go": 1 });
  assert.deepEqual(crossedWords("", "go"), { go: 1 });
  assert.deepEqual(crossedWords("sleep", " "), {});
});

test("a model that has no answer yet says nothing", async () => {
  const helper: Helper<unknown, number | null, number> = {
    fit: async () => ({}),
    predict: async (xs) => xs.map((x) => (x === unknown ? Number.NaN : 1)),
  };
  // the test's own helper has the types that the piece asks for
  const unsure = ctxWith({}, { helper: (() => helper) as unknown as Ctx["helper"] });
  const signals = await learntReward({
    features: (_ctx, { id }) => (id === "a" ? unknown : features()),
    keep: 0,
  })(unsure, experience(said("a", {}), said("b", {})), {});
  assert.deepEqual(
    signals.map(({ about }) => about[0]!.trajectory),
    ["b"],
  );
});
