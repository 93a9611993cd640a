import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxWith } from "../../../../test/core/make.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { answers } from "../../../worlds/answers.ts";
import { critiqueRl } from "./method.ts";

test("the actor stays as it is, the critic learns, and refinements begin with the second stage", async () => {
  const engine = tabularEngine({ prior: (_context, word) => (word === "WRONG" ? 3 : 0) });
  const method = critiqueRl.build({ tasks: 8, learningRate: 0.1 }, { stage: 2 });
  const environment = answers({ questions: 8, vocabulary: 3, right: 1 });
  const { curve, counters, policy } = await trainInMemory({
    environment,
    method,
    engine,
    seed: 1,
    iterations: 4,
  });
  assert.deepEqual(
    curve.map((stats) => "refined" in stats),
    [false, false, true, true],
  );
  assert.ok((counters["tokens.trained"] ?? 0) > 0);
  assert.equal(policy.version, "0");
});

test("the reference of the second stage is the first stage's critic, once", async () => {
  const engine = tabularEngine({ prior: (context, word) => (context.length < 3 && word === "a" ? 1 : 0) });
  const make = (id: string) => engine.create({ id, seed: 1, vocabulary: ["a b"], contextTokens: 16 });
  const [critic, start] = [await make("critic"), await make("policy")];
  const batch = batchOfRows([{ behaviour: [0, 0], advantage: [1, 1] }]);
  const rows = {
    ...batch,
    ...pairRows([{ prompt: Int32Array.of(6), target: Int32Array.of(6, 7) }]),
  };
  await critic.accumulate(rows, policyGradient(), await policyGradient().prepare(ctxWith({}), rows));
  await critic.step({ learningRate: 1, optimiser: "sgd" });
  const reference = await start.freeze();
  const at = async (of: Pick<typeof critic, "score">) => [...(await of.score(rows)).logp];
  assert.notDeepEqual(await at(reference), await at(critic));
  const { phases = [] } = critiqueRl.build({}, { stage: 7 });
  const renewing = phases.filter(({ slots }) => slots.annotate);
  assert.deepEqual(
    renewing.map(({ from, until }) => [from, until]),
    [[7, 8]],
  );
  const ctx = ctxWith({}, { model: () => critic, frozen: () => reference });
  await renewing[0]!.slots.annotate![0]!(ctx, { trajectories: [], units: [] });
  assert.deepEqual(await at(reference), await at(critic));
});
