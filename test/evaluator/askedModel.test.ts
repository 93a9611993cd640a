import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { askedModel } from "../../src/evaluator/askedModel.ts";
import { yesAndNo } from "../../src/evaluator/yesProbability.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

test("a model that is asked gives the probability of YES among YES and NO, and nothing for an attempt without a reply", async () => {
  const { yes, no } = yesAndNo;
  const question = "Is it so?";
  // the logit of YES is ln 3 above that of NO: probability ¾
  const model = await tabularEngine({ prior: (_, word) => (word === yes ? Math.log(3) : 0) }).create({
    id: "judge",
    seed: 1,
    vocabulary: [`${question} ${yes} ${no} 1 2`, "\n"],
    contextTokens: 64,
  });
  const task = { id: "t", prompt: [], metadata: {}, seed: 1 };
  const call = { random: randomStream(1), run: ctxOf({ model: () => model }) };
  const judge = askedModel(question);
  const said = await judge.score([{ task, trajectory: trajectoryOf("a", [turnOf([1], [2])]) }], call);
  assert.ok(Math.abs(said![0]!.score! - 0.75) < 1e-6, JSON.stringify(said));
  assert.equal(await judge.score([{ task, trajectory: trajectoryOf("b", []) }], call), undefined);
});
