// Every output forwards against a plain decoder's numbers or each other, backwards against finite differences.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { gather } from "../../../src/common/tokens/pack.ts";
import type { Batch } from "../../../src/core/batch.ts";
import type { Model } from "../../../src/core/model.ts";
import type { Objective } from "../../../src/core/objective.ts";
import type { Cotangents, Outputs, Wanted } from "../../../src/core/outputs.ts";
import { randomStream } from "../../../src/core/random.ts";
import { wantedAt } from "../../../src/engine/local/outputRequests.ts";
import {
  type Adapter,
  type Architecture,
  allParameters,
  sizeOfParameter,
  type Weights,
} from "../../../src/engine/local/parameters.ts";
import {
  type Bench,
  bench,
  codec,
  coefficientsFor,
  linear,
  livelyWeights,
  type MakeOptions,
  near,
  randomBatch,
  tinyConfig,
  weightsOf,
} from "./support.ts";

const adapter: Adapter = {
  rank: 3,
  alpha: 5,
  targets: ["q_proj", "v_proj", "o_proj", "gate_proj", "down_proj"],
};
const heads = ["value", "risk"];

/** What there is to want, two ids per target among it. */
function everything(batch: Batch, withHeads: boolean): Wanted {
  const random = randomStream("ids");
  return {
    entropy: true,
    topk: 3,
    at: {
      ids: Int32Array.from({ length: 2 * batch.target_A.length }, () => random.below(codec.vocabulary)),
      width: 2,
    },
    hidden: [0, 1, 2],
    ...(withHeads ? { heads } : {}),
  };
}

/** Random numbers in the shape of what a model says. */
function cotangentsLike(outputs: Outputs, seed: string): Cotangents {
  const random = randomStream(seed);
  const like = (x: Float32Array): Float32Array => x.map(() => random.normal());
  return {
    logp: like(outputs.logp),
    ...(outputs.entropy ? { entropy: like(outputs.entropy) } : {}),
    ...(outputs.topk ? { topk: like(outputs.topk.logp) } : {}),
    ...(outputs.at ? { at: like(outputs.at) } : {}),
    ...(outputs.hidden ? { hidden: outputs.hidden.map(like) } : {}),
    heads: Object.fromEntries(Object.entries(outputs.heads).map(([name, x]) => [name, like(x)])),
  };
}

const product = (x: Float32Array, c: Float32Array): number => x.reduce((sum, v, i) => sum + v * c[i]!, 0);

function lossOf(outputs: Outputs, c: Cotangents): number {
  const pairs: [Float32Array | undefined, Float32Array | undefined][] = [
    [outputs.logp, c.logp],
    [outputs.entropy, c.entropy],
    [outputs.topk?.logp, c.topk],
    [outputs.at, c.at],
    ...(outputs.hidden ?? []).map((x, i): [Float32Array, Float32Array] => [x, c.hidden![i]!]),
    ...Object.entries(outputs.heads).map(([name, x]): [Float32Array, Float32Array] => [x, c.heads![name]!]),
  ];
  return pairs.reduce((sum, [x, y]) => sum + (x && y ? product(x, y) : 0), 0);
}

/** Its loss is the inner product of these outputs with random numbers; of the whole batch at once, in the engine's order. */
function pairing(want: Wanted, seed: string): Objective<null> {
  const of = (x: Float32Array, index: Int32Array): Float32Array => gather(x, index, x.length / index.length);
  return {
    name: "pairing",
    together: "batch",
    wants: (_, part) => wantedAt(want, part.index_A),
    prepare: async () => null,
    evaluate: (outputs, part) => {
      const all = cotangentsLike(outputs, seed);
      const cotangents: Cotangents = {
        ...Object.fromEntries(
          (["logp", "entropy", "topk", "at"] as const).flatMap((name) => {
            const x = all[name];
            return x ? [[name, of(x, part.index_A)]] : [];
          }),
        ),
        ...(all.hidden ? { hidden: all.hidden.map((x) => of(x, part.index_A)) } : {}),
        heads: Object.fromEntries(Object.entries(all.heads!).map(([name, x]) => [name, of(x, part.index_A)])),
      };
      return { loss: lossOf(outputs, cotangents), cotangents, stats: {} };
    },
  };
}

/** Weights, adapter and heads, all of them far from zero. */
function livelyAll(architecture: Architecture): Weights {
  const random = randomStream("adapter");
  const base = livelyWeights(architecture.config);
  return new Map(
    allParameters(architecture).map((p) => [
      p.name,
      base.get(p.name) ?? Float32Array.from({ length: sizeOfParameter(p) }, () => 0.3 * random.normal()),
    ]),
  );
}

async function adapted(engine: Bench, options: MakeOptions = {}) {
  const weights = livelyAll({ config: tinyConfig, adapter, heads });
  return engine.make({}, { adapter, heads, weights, ...options });
}

/** The slope of the loss along another objective's gradient is the product of both gradients. */
async function checkSlope(t: TestContext, model: Model, batch: Batch, want: Wanted): Promise<void> {
  const other = linear(coefficientsFor(batch, "other"));
  await model.accumulate(batch, pairing(want, "pairing"), null, "pairing");
  await model.accumulate(batch, other, null, "other");
  const expected = await model.gradients!.dot("pairing", "other");
  const length = Math.sqrt(await model.gradients!.dot("other", "other"));
  const cotangents = cotangentsLike(await model.score(batch, want), "pairing");
  const lossAfter = async (rate: number): Promise<number> => {
    const fork = await model.fork("fresh");
    await fork.accumulate(batch, other, null);
    await fork.step({ optimiser: "sgd", learningRate: rate });
    const loss = lossOf(await fork.score(batch, want), cotangents);
    await fork.dispose();
    return loss;
  };
  // two widths, extrapolated to none
  const slope = async (h: number): Promise<number> =>
    ((await lossAfter(-h)) - (await lossAfter(h))) / (2 * h);
  const h = 1e-3 / length; // so small that the most probable ids stay the same
  const got = (4 * (await slope(h)) - (await slope(2 * h))) / 3;
  const error = Math.abs(got - expected) / Math.abs(expected);
  t.diagnostic(
    `slope ${got.toFixed(4)}, product of gradients ${expected.toFixed(4)}: ${error.toExponential(1)}`,
  );
  assert.ok(error < 0.01, `slope ${got}, product of gradients ${expected}`);
}

const batch = randomBatch([14, 9, 11], "outputs");

test("gradients of all outputs at once, of all weights", async (t) => {
  await using engine = bench();
  const { model } = await engine.make();
  await checkSlope(t, model, batch, everything(batch, false));
});

test("gradients of all outputs at once, of an adapter and value heads", async (t) => {
  await using engine = bench();
  const { model } = await adapted(engine);
  await checkSlope(t, model, batch, everything(batch, true));
});

for (const [name, want] of [
  ["top-k", { topk: 4 }],
  ["one hidden layer", { hidden: [1] }],
  ["value heads", { heads: ["risk"] }],
] as const satisfies readonly (readonly [string, Wanted])[]) {
  test(`gradients of ${name} alone`, async (t) => {
    await using engine = bench();
    const { model } = await adapted(engine);
    await checkSlope(t, model, batch, want);
  });
}

test("outputs agree with each other: top-k, ids of the caller's choice, entropy, value heads and hidden states", async () => {
  await using engine = bench();
  const { model, weights, config } = await adapted(engine);
  const V = codec.vocabulary;
  const A = batch.target_A.length;
  const ids = Int32Array.from({ length: A * V }, (_, i) => i % V);
  const said = await model.score(batch, {
    entropy: true,
    topk: 3,
    at: { ids, width: V },
    heads,
    hidden: [config.layers, -1, 0, -1 - config.layers],
  });
  const [last, fromEnd, first, allTheWay] = said.hidden!;
  assert.deepEqual([fromEnd, allTheWay], [last, first], "negative layers count from the end");
  for (let a = 0; a < A; a++) {
    const row = said.at!.subarray(a * V, (a + 1) * V);
    near([row.reduce((sum, x) => sum + Math.exp(x), 0)], [1], 1e-5, "total");
    near([said.logp[a]!], [row[batch.tokens_N[batch.target_A[a]!]!]!], 1e-6, "logp");
    near([said.entropy![a]!], [-row.reduce((sum, x) => sum + Math.exp(x) * x, 0)], 1e-5, "entropy");
    const best = [...row.keys()].sort((i, j) => row[j]! - row[i]!).slice(0, 3);
    assert.deepEqual([...said.topk!.ids.subarray(a * 3, a * 3 + 3)], best);
    near(
      said.topk!.logp.subarray(a * 3, a * 3 + 3),
      best.map((i) => row[i]!),
      1e-6,
      "top-k",
    );
    const state = said.hidden![0]!.subarray(a * config.width, (a + 1) * config.width);
    for (const head of heads) {
      const value = product(state, weights.get(`value_heads.${head}.weight`)!);
      near([said.heads[head]![a]!], [value + weights.get(`value_heads.${head}.bias`)![0]!], 1e-5, head);
    }
  }
});

test("inputGradient adds up to the gradient of the embeddings", async () => {
  await using engine = bench();
  const { model, config, weights } = await engine.make({ tied: false });
  const objective = pairing(everything(batch, false), "pairing");
  const gradient = await model.inputGradient!(batch, objective, null);
  assert.equal(gradient.length, batch.tokens_N.length * config.width);
  const expected = new Float64Array(config.vocabulary * config.width);
  batch.tokens_N.forEach((token, n) => {
    for (let i = 0; i < config.width; i++)
      expected[token * config.width + i]! += gradient[n * config.width + i]!;
  });
  const rate = 2 ** 12; // so large that the weights do not round the gradient off
  await model.accumulate(batch, objective, null);
  await model.step({ optimiser: "sgd", learningRate: rate });
  const name = "model.embed_tokens.weight";
  const now = (await weightsOf(engine.host, 1)).get(name)!;
  near(
    now.map((w, i) => (weights.get(name)![i]! - w) / rate),
    expected,
    2e-4,
    "gradient of the embeddings",
  );
});

test("a batch too large to keep at once gets the same gradient in pieces", async () => {
  await using engine = bench();
  const wide = randomBatch([40, 33, 38, 29, 40, 36], "pieces");
  const want = everything(wide, true);
  const run = async (places: number): Promise<Weights> => {
    const { model } = await adapted(engine, { places });
    await model.accumulate(wide, pairing(want, "pairing"), null);
    await model.step({ optimiser: "sgd", learningRate: 2 ** 12 });
    return weightsOf(engine.host, places === 4096 ? 1 : 2);
  };
  const whole = await run(4096);
  const pieces = await run(64);
  for (const [name, w] of whole) {
    const scale = w.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    near(pieces.get(name)!, w, 1e-4 * scale, name);
  }
});
