import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pairRows } from "../../../src/common/tokens/pack.ts";
import type { Frozen, Model } from "../../../src/core/model.ts";
import type { Wanted } from "../../../src/core/outputs.ts";
import { vocabularyCodec } from "../../../src/engine/tabular/codec.ts";
import { type Features, type Prior, tabularEngine } from "../../../src/engine/tabular/engine.ts";
import { tabularModel } from "../../../src/engine/tabular/model.ts";
import { newWeights } from "../../../src/engine/tabular/weights.ts";
import { likelihood } from "../../../src/objective/likelihood.ts";
import { batchOfRows, ctxOf } from "../../core/make.ts";

/** One feature for each word seen: "red hot" and "red cold" share the row of "red". */
const features: Features = (context) => context.filter((word) => /^[a-z]+$/.test(word));
const vocabulary = ["red blue hot cold", "yes no"];
/** Yes and no alone are ever said. */
const prior: Prior = (_context, word) => (word === "yes" || word === "no" ? 0 : -1e9);
const engine = tabularEngine({ context: "message", features, prior });
const make = (): Promise<Model> => engine.create({ id: "policy", seed: 1, vocabulary, contextTokens: 32 });

const pair = (codec: Model["codec"], seen: string, said: string) => ({
  prompt: codec.open([{ role: "user", content: seen }]),
  target: codec.encode(said),
});

async function chance(model: Model | Frozen, seen: string): Promise<number> {
  const { logp } = await model.score(pairRows([pair(model.codec, seen, "yes")]));
  return Math.exp(logp[0]!);
}

async function imitate(model: Model, seen: string, learningRate: number): Promise<void> {
  const batch = {
    ...batchOfRows([{ behaviour: [0], advantage: [0] }]),
    ...pairRows([pair(model.codec, seen, "yes")]),
  };
  const objective = likelihood();
  await model.accumulate(batch, objective, await objective.prepare(ctxOf({}), batch));
  await model.step({ learningRate, optimiser: "sgd" });
}

const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-6, `${a}, expected ${b}`);
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

test("what is learnt in a context holds in others as far as they share features", async () => {
  const model = await make();
  near(await chance(model, "red hot"), 0.5);
  await imitate(model, "red hot", 1);
  // each of the rows red and hot gets (+½, −½): one shared feature makes a difference of 1 in the logits, both make 2
  near(await chance(model, "red hot"), sigmoid(2));
  near(await chance(model, "red cold"), sigmoid(1));
  near(await chance(model, "blue hot"), sigmoid(1));
  near(await chance(model, "blue cold"), 0.5);
});

test("gradients of sums of rows are slopes, values of a head included", async () => {
  const codec = vocabularyCodec(vocabulary);
  const weights = newWeights(codec, "message", prior, new Map(), undefined, features);
  const model = tabularModel("policy", weights, 32);
  const rows = pairRows([
    pair(codec, "red hot", "yes"),
    pair(codec, "blue hot", "no"),
    pair(codec, "red hot", "no"),
  ]);
  const batch = { ...batchOfRows([0, 1, 2].map(() => ({ behaviour: [0], advantage: [0] }))), ...rows };
  const [towards, entropy, value] = [
    [0.3, -0.7, 0.2],
    [0.5, 0.1, -0.4],
    [1, 2, 4],
  ];
  const wanted: Wanted = { entropy: true, heads: ["value"] };
  const accumulate = () =>
    model.accumulate(
      batch,
      {
        name: "linear",
        together: "row",
        wants: () => wanted,
        evaluate: () => ({
          loss: 0,
          cotangents: {
            logp: Float32Array.from(towards),
            entropy: Float32Array.from(entropy),
            heads: { value: Float32Array.from(value) },
          },
          stats: {},
        }),
      },
      null,
    );
  await accumulate();
  const loss = async (): Promise<number> => {
    const out = await model.score(rows, wanted);
    return [0, 1, 2].reduce(
      (sum, a) =>
        sum + towards[a]! * out.logp[a]! + entropy[a]! * out.entropy![a]! + value[a]! * out.heads.value![a]!,
      0,
    );
  };
  // hot is in all three, red in the first and the third
  const head = weights.part("head.value");
  assert.deepEqual(
    [...head.array("gradient.main")],
    ["red", "hot", "blue"].map((f) => ({ red: 5, hot: 7, blue: 2 })[f]),
  );
  const slope = weights.part("logits").array("gradient.main").slice();
  const numbers = weights.part("logits").array("weights");
  for (let i = 0; i < numbers.length; i++) {
    const h = 1e-2;
    const moved = async (d: number): Promise<number> => {
      numbers[i]! += d;
      weights.changed();
      const at = await loss();
      numbers[i]! -= d;
      return at;
    };
    const expected = ((await moved(h)) - (await moved(-h))) / (2 * h);
    assert.ok(Math.abs(slope[i]! - expected) < 1e-4, `[${i}] ${slope[i]}, expected ${expected}`);
  }
});

test("frozen copies and checkpoints keep the features", async () => {
  const model = await make();
  await imitate(model, "red hot", 1);
  const folder = mkdtempSync(join(tmpdir(), "features-"));
  await model.save(folder);
  const opened = await engine.open("policy", folder);
  for (const copy of [await model.freeze(), await model.fork("copy"), opened]) {
    near(await chance(copy, "red cold"), sigmoid(1));
  }
});
