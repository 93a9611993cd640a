import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { pack } from "../../../common/tokens/pack.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { withCritiqueRows } from "./withCritiqueRows.ts";

const vocabulary = ["q how a1 wrong step 1"];
const model = await tabularEngine().create({ id: "policy", seed: 1, vocabulary, contextTokens: 32 });
const { codec } = model;
const ctx = ctxOf({ model: () => model });
const turn = turnOf([1], [2], {
  prompt: [{ role: "user", content: "q" }],
  action: { role: "assistant", content: "a1" },
});
const units = ["t", "silent"].map((id) => ({ id: `unit ${id}`, group: "g", members: [id] }));
const trajectories = [trajectoryOf("t", [turn]), trajectoryOf("silent", [turn])];

test("a critique becomes what the policy is to write after the attempt and a question", async () => {
  const critiques = new Map([["t", { text: "wrong step 1" }]]);
  const made = await withCritiqueRows(async () => ({ trajectories, units, critiques }), {
    question: "how",
  })(ctx);
  assert.deepEqual([made.trajectories, made.units, made.rows!.length], [trajectories, units, 1]);
  const row = made.rows![0]!;
  const prompt = codec.open([
    { role: "user", content: "q" },
    { role: "assistant", content: "a1" },
    { role: "user", content: "how" },
  ]);
  const said = [...codec.encode("wrong step 1"), codec.endId];
  assert.deepEqual([...row.tokens], [...prompt, ...said]);
  assert.deepEqual(
    [...row.targets],
    said.map((_, i) => prompt.length + i),
  );
  assert.deepEqual([...row.advantage], [1, 1, 1, 1]);
  const { role, origin, unit, trajectory } = row.info;
  assert.deepEqual([role, origin, unit, trajectory], ["critiquer", "demonstrated", "unit t", "t"]);
  // the row can be scored: four targets, each of six words or the end equally likely before any learning
  const { logp } = await model.score(pack(made.rows!, units));
  assert.ok(logp.every((x) => Math.abs(x + Math.log(7)) < 1e-6));
});

test("without critiques there are no rows, and those that there were stay", async () => {
  const rows = (await withCritiqueRows(async () => ({ trajectories, units }))(ctx)).rows;
  assert.deepEqual(rows, []);
  const critiques = new Map([["t", { text: "wrong" }]]);
  const twice = withCritiqueRows(
    withCritiqueRows(async () => ({ trajectories, units, critiques }), { question: "how" }),
    { question: "how" },
  );
  assert.equal((await twice(ctx)).rows!.length, 2);
});
