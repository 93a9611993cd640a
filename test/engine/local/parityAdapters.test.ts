// Adapters against PEFT, on folders and figures that bench/peers/adapter_fixtures.py made.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import type { Model } from "../../../src/core/model.ts";
import { readCheckpoint } from "../../../src/engine/local/checkpoint.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import type { Adapter, Weights } from "../../../src/engine/local/parameters.ts";
import { mergeAdapter, peftFiles, readPeft, writePeft } from "../../../src/engine/local/peft.ts";
import type { TokenizerFiles } from "../../../src/engine/local/tokenizer.ts";
import {
  batch,
  everyToken,
  fixtures,
  largestGap,
  logSoftmax,
  relativeError,
  requireEach,
  requireWithin,
  type Tensors,
  tensorsAt,
  within,
} from "./fixtures/compare.ts";
import * as ours from "./fixtures/ours.ts";
import { bench, linear, weightsOf } from "./support.ts";

/** What PEFT puts before our names. */
const wrapper = "base_model.model.";

interface Base {
  readonly config: DecoderConfig;
  readonly tokenizer: TokenizerFiles;
  readonly weights: Weights;
}

async function baseAt(name: string): Promise<Base> {
  const { architecture, tokenizer, contents } = await readCheckpoint(join(fixtures, name));
  return { config: architecture.config, tokenizer, weights: contents.weights };
}

const engine = bench(1);
after(() => engine[Symbol.asyncDispose]());
let models = 0;

async function made({ config, tokenizer }: Base, weights: Weights, adapter?: Adapter) {
  const { model } = await engine.make(config, { tokenizer, weights, ...(adapter ? { adapter } : {}) });
  const handle = ++models; // handles count from 1
  return { model, held: () => weightsOf(engine.host, handle) };
}

async function requireLogits(t: TestContext, model: Model, logits: Float32Array, what = "logits") {
  const V = model.codec.vocabulary;
  const { at } = await model.score(batch, { at: everyToken(V) });
  requireWithin(t, what, largestGap(at!, logSoftmax(logits, V)), 1e-4);
}

// each on the model of its own name
for (const name of ["llama", "qwen2", "qwen3"]) {
  test(`an adapter of PEFT's on ${name} says, learns and merges the same here`, async (t) => {
    const folder = join(fixtures, "adapters", name);
    const said = await tensorsAt(join(folder, "expected.safetensors"));
    const values = (key: string): Float32Array => said.get(key)!;
    const of = (prefix: string): Tensors => within(said, prefix);
    const base = await baseAt(name);
    const { adapter, tensors } = await readPeft(folder, base.config);
    const whole = new Map([...base.weights, ...tensors]);

    const { model, held } = await made(base, whole, adapter);
    await requireLogits(t, model, values("logits"));

    // a rate so large that the matrices do not round off the gradient
    const rate = 2 ** 14;
    await model.accumulate(batch, linear({ logp: values("c"), entropy: values("e") }), null);
    await model.step({ optimiser: "sgd", learningRate: rate });
    const leapt = await held();
    const gradient = (key: string): Float32Array =>
      tensors.get(key)!.map((w, i) => (w - leapt.get(key)![i]!) / rate);
    const gradients = of(`gradient.${wrapper}`);
    assert.deepEqual([...gradients.keys()].sort(), [...tensors.keys()].sort());
    requireEach(t, "gradients", gradients, (key, want) => relativeError(gradient(key), want), 1e-3);

    const { model: learner, held: heldThen } = await made(base, whole, adapter);
    const A = batch.target_A.length;
    for (let i = 0; i < 5; i++) {
      await learner.accumulate(batch, linear({ logp: new Float32Array(A).fill(-1 / A) }), null);
      await learner.step({ learningRate: 1e-3, betas: [0.9, 0.95], epsilon: 1e-5, weightDecay: 0.1 });
    }
    const learnt = await heldThen();
    const moved = (key: string, want: Float32Array): number =>
      relativeError(learnt.get(key)!, want, tensors.get(key)!);
    requireEach(t, "steps", of(`steps.${wrapper}`), moved, 1e-3);
    for (const [key, values] of base.weights) assert.deepEqual(learnt.get(key), values, `${key} stays`);

    const merged = mergeAdapter(base.weights, adapter, tensors);
    const mergedError = (key: string, want: Float32Array): number => largestGap(merged.get(key)!, want);
    requireEach(t, "merged", of("merged."), mergedError, 1e-6);
    const { model: plain } = await made(base, merged);
    await requireLogits(t, plain, values("logits"), "logits of merged weights");
  });
}

test("an adapter of ours says the same in PEFT", async (t) => {
  const shown = join(fixtures, "adapters", "ours");
  const base = await baseAt(ours.base);
  const tensors = ours.tensorsFor(base.config);
  const folder = await mkdtemp(join(tmpdir(), "whetstone-adapter-"));
  try {
    await writePeft(folder, base.config, ours.adapter, tensors, ours.base);
    const bytes = (of: string) => readFile(join(of, peftFiles.weights));
    assert.deepEqual(await bytes(folder), await bytes(shown), "what PEFT was shown");
    const fields = async (of: string): Promise<unknown> =>
      JSON.parse(await readFile(join(of, peftFiles.config), "utf8"));
    assert.deepEqual(await fields(folder), await fields(shown));
  } finally {
    await rm(folder, { recursive: true });
  }
  const logits = (await tensorsAt(join(shown, "expected.safetensors"))).get("logits")!;
  const { model } = await made(base, new Map([...base.weights, ...tensors]), ours.adapter);
  await requireLogits(t, model, logits);
});
