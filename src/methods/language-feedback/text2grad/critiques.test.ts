import assert from "node:assert/strict";
import { test } from "node:test";
import { critiquing, ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { critiques } from "./critiques.ts";

const model = await tabularEngine().create({
  id: "policy",
  seed: 1,
  vocabulary: ["a b c"],
  contextTokens: 8,
});
const ctx = ctxWith({}, { model: () => model });
const turn = turnOf([1], [...model.codec.encode("a b c")], {
  action: { role: "assistant", content: "a b c" },
});
const t = trajectoryOf("t", [turn, turn]);
const ends = { kind: "critique", channel: "critique", source: "critiquer" } as const;

test("critiques: the text about its turn, +1 about what is praised, −1 about what is blamed", async () => {
  const critiquer = critiquing(() => ({
    text: "so so",
    turn: 1,
    marks: [
      { turn: 0, from: 0, to: 1, good: true },
      { turn: 1, from: 2, to: 5, good: true },
      { turn: 1, from: 0, to: 1, good: false },
      { turn: 1, from: 1, to: 2, good: false }, // a blank
      { turn: 7, from: 0, to: 1, good: false },
    ],
  }));
  assert.deepEqual(await critiques({ critiquer })(ctx, { trajectories: [t], units: [] }, {}), [
    { ...ends, text: "so so", about: [{ trajectory: "t", turn: 1 }] },
    {
      ...ends,
      text: "so so",
      value: 1,
      about: [
        { trajectory: "t", turn: 0, span: [0, 1] },
        { trajectory: "t", turn: 1, span: [1, 3] },
      ],
    },
    { ...ends, text: "so so", value: -1, about: [{ trajectory: "t", turn: 1, span: [0, 1] }] },
  ]);
});

test("critiques: what the rollout knows is not asked again; silence is no signal; the failed are let be", async () => {
  const asked: string[] = [];
  const critiquer = critiquing(({ id }) => {
    asked.push(id);
    return undefined;
  });
  const failed = { kind: "failed", boundary: "environment", message: "" } as const;
  const trajectories = [
    t,
    trajectoryOf("silent", [turn]),
    trajectoryOf("failed", [turn], { end: failed }),
    trajectoryOf("idle", []),
  ];
  const known = new Map([["t", { text: "known" }]]);
  const experience = { trajectories, units: [], critiques: known };
  assert.deepEqual(await critiques({ critiquer, channel: "other" })(ctx, experience, {}), [
    { ...ends, channel: "other", text: "known", about: [{ trajectory: "t" }] },
  ]);
  assert.deepEqual(asked, ["silent"]);
  assert.deepEqual((await critiques()(ctx, experience, {})).length, 1);
});
