// The engine against PyTorch and Transformers, on checkpoints and figures that bench/peers/fixtures.py made.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Model, StepRule } from "../../../src/core/model.ts";
import { fromHuggingFace } from "../../../src/engine/local/huggingFaceConfig.ts";
import { localEngine } from "../../../src/engine/local/index.ts";
import { parametersOf, sizeOfParameter } from "../../../src/engine/local/parameters.ts";
import { rotaryFrequencies } from "../../../src/engine/local/rotaryTables.ts";
import {
  batch,
  chat,
  everyToken,
  fixtures,
  largestGap,
  logSoftmax,
  relativeError,
  requireEach,
  requireWithin,
  rows,
  type Tensors,
  tensorsAt,
  within,
} from "./fixtures/compare.ts";
import { device, type Linear, linear, near } from "./support.ts";

const engine = localEngine({ threads: 1, device });
after(() => engine.dispose());

const A = batch.target_A.length;

/** What the model holds, by way of a checkpoint. */
async function weightsOf(model: Model): Promise<Tensors> {
  const folder = await mkdtemp(join(tmpdir(), "whetstone-parity-"));
  try {
    await model.save(folder);
    return await tensorsAt(join(folder, "model.safetensors"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function train(model: Model, clip?: number): Promise<{ weights: Tensors; norms: number[] }> {
  const descent: Linear = { logp: new Float32Array(A).fill(-1 / A) };
  const rule: StepRule = {
    learningRate: 1e-3,
    betas: [0.9, 0.95],
    epsilon: 1e-5,
    weightDecay: 0.1,
    ...(clip === undefined ? {} : { clip }),
  };
  const norms: number[] = [];
  for (let i = 0; i < 20; i++) {
    await model.accumulate(batch, linear(descent), null);
    norms.push((await model.step(rule)).gradientNorm!);
  }
  return { weights: await weightsOf(model), norms };
}

interface Published {
  readonly name: string;
  readonly config: unknown;
  readonly tensors: number;
  readonly parameters: number;
  readonly frequencies: number[];
  readonly scale: number;
}
const published = JSON.parse(await readFile(join(fixtures, "published.json"), "utf8")) as Published[];

for (const { name, config, ...want } of published) {
  test(`a config.json is read as Transformers reads it: ${name}`, () => {
    const c = fromHuggingFace(config, name);
    const parameters = parametersOf(c);
    assert.equal(parameters.length, want.tensors);
    assert.equal(
      parameters.reduce((sum, p) => sum + sizeOfParameter(p), 0),
      want.parameters,
    );
    const frequencies = rotaryFrequencies(c);
    assert.equal(frequencies.length, want.frequencies.length);
    // Transformers works them out in float32, with a difference of near numbers at the end of a ramp
    frequencies.forEach((f, i) => {
      near([f / want.frequencies[i]!], [1], 1e-5, `frequency ${i}`);
    });
    near([c.ropeScaling?.type === "yarn" ? c.ropeScaling.attention : 1], [want.scale], 1e-6);
  });
}

for (const name of ["llama", "llama3", "linear", "yarn", "smollm", "qwen2", "qwen3", "smollm3"]) {
  test(`${name}: prompts, logits, gradients and steps are those of Transformers`, async (t) => {
    const folder = join(fixtures, name);
    const said = await tensorsAt(join(folder, "expected.safetensors"));
    const values = (key: string): Float32Array => said.get(key)!;
    const model = await engine.open("policy", folder);
    const before = await weightsOf(model);

    assert.deepEqual([...model.codec.open(chat.messages)], chat.ids);

    const V = model.codec.vocabulary;
    const { logp, entropy, at } = await model.score(batch, { entropy: true, at: everyToken(V) });
    requireWithin(t, "logits", largestGap(at!, logSoftmax(values("logits"), V)), 1e-4);
    requireWithin(t, "log-probabilities", largestGap(logp, values("logp")), 1e-4);
    requireWithin(t, "entropies", largestGap(entropy!, values("entropy")), 1e-4);

    // through the cache, token by token
    const prompt = Int32Array.from(rows.at(-1)!);
    const [sample] = await model.sample([{ prompt, maxTokens: 16, temperature: 0, seed: 1 }]);
    assert.deepEqual([...sample!.action], [...values("greedy")]);
    requireWithin(t, "log-probabilities when sampled", largestGap(sample!.logp, values("greedyLogp")), 1e-4);

    const leap = await model.fork("fresh");
    // a rate so large that the weights do not round off the gradient
    const rate = 2 ** 14;
    await leap.accumulate(batch, linear({ logp: values("c"), entropy: values("e") }), null);
    await leap.step({ optimiser: "sgd", learningRate: rate });
    const leapt = await weightsOf(leap);
    const gradient = (key: string): Float32Array =>
      before.get(key)!.map((w, i) => (w - leapt.get(key)![i]!) / rate);
    const gradients = within(said, "gradient.");
    requireEach(t, "gradients", gradients, (key, want) => relativeError(gradient(key), want), 1e-3);
    assert.deepEqual([...before.keys()].sort(), [...gradients.keys()].sort());

    for (const [run, clip] of [
      ["steps", undefined],
      ["clipped", 1],
    ] as const) {
      const after20 = within(said, `${run}.`);
      if (after20.size === 0) continue;
      const trained = await train(await model.fork("fresh"), clip);
      // of the way that the weights went
      const moved = (tensor: string, want: Float32Array): number =>
        relativeError(trained.weights.get(tensor)!, want, before.get(tensor)!);
      requireEach(t, run, after20, moved, 1e-3);
      requireWithin(
        t,
        "norms",
        relativeError(Float32Array.from(trained.norms), values(`norms.${run}`)),
        1e-3,
      );
    }
  });
}
