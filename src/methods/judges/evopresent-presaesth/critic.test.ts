import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { signalValue } from "../../../core/signal.ts";
import { type Asked, criticReward, criticRewards, defectsF1 } from "./criticRewards.ts";
import { edited } from "./editLoop.ts";
import { drawLayout, layoutFeatures, layoutPrior, layouts, questionOf } from "./layouts.ts";

obeysTheLaws(() => layouts({ items: 12 }), { garbage: 0.3 });

test("form pays 1, and a right answer 1 more, by its kind", () => {
  const paid = (asked: Asked) => (answer: string) => criticReward(asked, answer, { tolerance: 0.5 });
  const score = paid({ kind: "score", score: 3.2 });
  assert.deepEqual(["3", "3.69", "3.7", "4", "3 4", "good", ""].map(score), [2, 2, 1, 1, 0, 0, 0]);
  const compare = paid({ kind: "compare", better: "B" });
  assert.deepEqual(["B", "A", "B A", ""].map(compare), [2, 1, 0, 0]);
  // F1 of two among three and two true ones: 2 · 2 / 5 = 0.8;  one of two: 0.5
  const defects = paid({ kind: "defects", defects: ["d0", "d1"] });
  assert.deepEqual(["d0 d1", "d0 d1 d2", "d0 d3", "none", "none d0", ""].map(defects), [2, 2, 1, 1, 0, 0]);
  const sound = paid({ kind: "defects", defects: [] });
  assert.deepEqual(["none", "d0"].map(sound), [2, 1]);
  assert.ok(Math.abs(defectsF1(new Set(["a", "b", "c"]), new Set(["a", "b"])) - 0.8) < 1e-12);
});

test("one reward for each answer; failed attempts and tasks that ask nothing get none", async () => {
  const answered = (id: string, content: string) =>
    trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], { task: id });
  const failed = {
    ...answered("x", "A"),
    end: { kind: "failed", boundary: "model", message: "gone" },
  } as const;
  const trajectories = [answered("asks", "A"), answered("nothing", "A"), { ...failed, task: "asks" }];
  const askedOf = ({ id }: { readonly id: string }): Asked | undefined =>
    id === "asks" ? { kind: "compare", better: "A" } : undefined;
  const signals = await criticRewards(askedOf)(ctxWith({}), { trajectories, units: [] }, {});
  assert.deepEqual(signals.map(signalValue), [2]);
});

/** Artefacts are numbers of defects; an edit fixes one if its name is "real". */
const loop = (
  critic: { named?: readonly string[]; favours?: "first" | "better" },
  options: { most?: number; accept?: "both" | "first" | "always"; harm?: number } = {},
) => {
  const { named = ["false", "real"], favours = "better" } = critic;
  const { most = 10, accept = "both", harm = 1 } = options;
  return edited(3, {
    most,
    accept,
    edit: async (n, defect) => (defect === "real" ? n - 1 : n + harm),
    critic: {
      defects: async (n) => (n === 0 ? [] : named),
      prefersFirst: async (a, b) => favours === "first" || a < b,
    },
  });
};

test("edits are kept where both orders agree, another defect is tried after a refusal, and no defects end it", async () => {
  assert.deepEqual(await loop({}), { artefact: 0, edits: 6 });
  assert.deepEqual(await loop({ named: ["real"] }), { artefact: 0, edits: 3 });
  assert.deepEqual(await loop({}, { most: 2 }), { artefact: 2, edits: 2 });
});

test("a critic that favours a position accepts nothing in both orders, and harm in one", async () => {
  assert.deepEqual(await loop({ favours: "first" }), { artefact: 3, edits: 10 });
  assert.deepEqual(await loop({ favours: "first" }, { accept: "first" }), { artefact: 13, edits: 10 });
  assert.deepEqual(await loop({}, { accept: "always", most: 4 }), { artefact: 7, edits: 4 });
});

test("layouts: quality counts the rules that are kept, and labels follow from it with a person's noise", () => {
  const world = layouts({ items: 300 });
  const flips = (layout: readonly boolean[], at: number) => layout.map((on, a) => on !== (a === at));
  const layout = drawLayout(randomStream(5));
  for (let a = 0; a < 8; a++) {
    const change = Math.abs(world.qualityOf(flips(layout, a)) - world.qualityOf(layout));
    assert.equal(change, a < 5 ? 1 : 0);
  }
  assert.equal(world.qualityOf(layout) + world.defectsOf(layout).length, 5);
  const kinds = world.tasks("train").map(({ metadata }) => (metadata.asked as unknown as Asked).kind);
  assert.deepEqual(kinds.slice(0, 4), ["score", "defects", "compare", "score"]);
});

test("a critic sees differences alone where it compares, and what is left where it lists", () => {
  const [a, b] = [0, 1].map((one) => Array.from({ length: 8 }, (_, k) => k === one));
  const heard = (text: string) => ["<user>", ...text.split(" "), "<end>", "<assistant>"];
  assert.deepEqual(layoutFeatures(heard(questionOf("compare", a!, b!))), [
    "compare false",
    "compare +0",
    "compare -1",
    "compare b-0",
    "compare b+1",
  ]);
  const listing = [...heard(questionOf("defects", a!)), "d5"];
  assert.deepEqual(layoutFeatures(listing), ["defects true", "defects -6", "defects -7"]);
  assert.deepEqual(
    ["d4", "none", "<end>"].map((word) => layoutPrior(listing, word)),
    [-1e9, -1e9, 0],
  );
});
