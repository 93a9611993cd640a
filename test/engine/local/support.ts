/** Small local models for tests. */
import assert from "node:assert/strict";
import { pack } from "../../../src/common/tokens/pack.ts";
import type { Batch, Row, TokenRows } from "../../../src/core/batch.ts";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import type { Model, Sample } from "../../../src/core/model.ts";
import type { Objective } from "../../../src/core/objective.ts";
import type { Cotangents, Wanted } from "../../../src/core/outputs.ts";
import { randomStream } from "../../../src/core/random.ts";
import type { Host } from "../../../src/engine/local/caller.ts";
import { chatCodec } from "../../../src/engine/local/codec.ts";
import { type DecoderConfig, plain } from "../../../src/engine/local/config.ts";
import { startHost } from "../../../src/engine/local/host.ts";
import { localModel } from "../../../src/engine/local/model.ts";
import { gridOf } from "../../../src/engine/local/packing.ts";
import {
  type Adapter,
  type Architecture,
  initialWeights,
  type Weights,
} from "../../../src/engine/local/parameters.ts";
import { startReader } from "../../../src/engine/local/reader.ts";

import { type TokenizerFiles, wordTokenizer } from "../../../src/engine/local/tokenizer.ts";

export const words = Array.from({ length: 24 }, (_, i) => `w${i}`);
export const tokenizer = wordTokenizer([words.join(" ")]);
export const codec = chatCodec(tokenizer);

export const tinyConfig: DecoderConfig = {
  vocabulary: codec.vocabulary,
  width: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headWidth: 4,
  feedForward: 24,
  ...plain,
  ropeTheta: 10_000,
  epsilon: 1e-5,
  contextTokens: 64,
  tied: true,
};

/** Weights large enough that every part of the decoder affects the outputs, and norms that are not all ones. */
export function livelyWeights(config: DecoderConfig, seed: number | string = 1): Weights {
  const random = randomStream(seed);
  return new Map(
    [...initialWeights(config, random)].map(([name, values]) => {
      const stream = random.split("lively", name);
      if (name.includes("norm")) return [name, values.map(() => 1 + 0.3 * stream.normal())];
      const deviation = name.includes("embed") ? 0.5 : 1.2 / Math.sqrt(config.width);
      return [name, values.map(() => deviation * stream.normal())];
    }),
  );
}

export interface MadeModel {
  readonly model: Model;
  readonly weights: Weights;
  readonly config: DecoderConfig;
}

export interface Bench extends AsyncDisposable {
  readonly host: Host;
  make(more?: Partial<DecoderConfig>, options?: MakeOptions): Promise<MadeModel>;
}

export interface MakeOptions {
  readonly seed?: number;
  readonly places?: number;
  readonly heads?: readonly string[];
  readonly adapter?: Adapter;
  readonly weights?: Weights;
  readonly tokenizer?: TokenizerFiles;
}

/** `WHETSTONE_TEST_DEVICE=gpu` runs these tests on a graphics adapter. */
export const device = process.env.WHETSTONE_TEST_DEVICE === "gpu" ? "gpu" : "cpu";

/** An engine thread and models on it; `await using` ends the thread. */
export function bench(threads = 2, prefixBytes = 0): Bench {
  const host = startHost({
    threads,
    device,
    precision: "f32",
    memory: 2 ** 30,
    prefixBytes: device === "gpu" ? 0 : prefixBytes,
  });
  return {
    host,
    async make(more = {}, options = {}) {
      const config = { ...tinyConfig, ...more };
      const weights = options.weights ?? livelyWeights(config, options.seed ?? 1);
      const files = options.tokenizer ?? tokenizer;
      const architecture: Architecture = {
        config,
        heads: options.heads ?? [],
        ...(options.adapter ? { adapter: options.adapter } : {}),
      };
      const { padId, endId } = chatCodec(files);
      const contents = { weights, steps: 0, version: 0 };
      const handle = await host.call("create", architecture, { padId, endId }, contents);
      const reader = startReader(files);
      const parts = {
        host,
        architecture,
        tokenizer: files,
        codec: chatCodec(files),
        reader,
        places: options.places ?? 4096,
        grid: gridOf(device),
      };
      return { model: localModel("policy", parts, handle, { version: 0, base: undefined }), weights, config };
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
}

export interface RowOf {
  readonly tokens: readonly number[];
  readonly targets: readonly number[];
  readonly group?: string;
}

/** Rows in the form of a training update. */
export function batchOf(specs: readonly RowOf[]): Batch {
  const rows = specs.map(({ tokens, targets, group = "group" }, r): Row => {
    const zeros = new Float32Array(targets.length);
    return {
      info: {
        trajectory: `t${r}`,
        task: group,
        role: "agent",
        model: "policy",
        version: "none",
        origin: "sampled",
        context: "sampled",
        unit: `t${r}`,
        group,
        from: 0,
      },
      tokens: Int32Array.from(tokens),
      targets: Int32Array.from(targets),
      turn: new Int32Array(targets.length),
      logp: zeros,
      behaviour: zeros,
      advantage: zeros,
      weight: zeros,
    };
  });
  return pack(
    rows,
    rows.map(({ info }) => ({ id: info.unit, group: info.group, members: [info.trajectory] })),
  );
}

/** Rows of random tokens of these lengths; every token after the first is a target with probability 0.6. */
export function randomBatch(
  lengths: readonly number[],
  seed: number | string,
  group: (row: number) => string = () => "group",
): Batch {
  const random = randomStream(seed);
  return batchOf(
    lengths.map((length, r) => {
      const stream = random.split(r);
      const tokens = Array.from({ length }, () => stream.below(codec.vocabulary));
      const targets = tokens.map((_, i) => i).filter((i) => i > 0 && stream.next() < 0.6);
      return { tokens, targets: targets.length > 0 ? targets : [length - 1], group: group(r) };
    }),
  );
}

/** Every token but a row's first is a target. */
export function rowsOf(sequences: readonly (readonly number[])[]): TokenRows {
  return batchOf(sequences.map((tokens) => ({ tokens, targets: tokens.map((_, i) => i).slice(1) })));
}

export interface Linear {
  readonly logp: Float32Array;
  readonly entropy?: Float32Array;
}

/** A linear objective: its gradient is the given cotangents, backpropagated. */
export function linear(
  coefficients: Linear,
  together: Objective["together"] = "row",
  seen: (part: Batch) => void = () => {},
): Objective<null> {
  const wanted: Wanted = coefficients.entropy ? { entropy: true } : {};
  return {
    name: "linear",
    together,
    wants: () => wanted,
    prepare: async () => null,
    evaluate: (outputs, part) => {
      seen(part);
      const at = (xs: Float32Array) => Float32Array.from(part.index_A, (a) => xs[a]!);
      const cotangents: Cotangents = {
        logp: at(coefficients.logp),
        ...(coefficients.entropy ? { entropy: at(coefficients.entropy) } : {}),
      };
      let loss = 0;
      outputs.logp.forEach((x, a) => {
        loss += x * cotangents.logp![a]!;
      });
      return { loss, cotangents, stats: { seen: part.target_A.length } };
    },
  };
}

export function coefficientsFor(batch: Batch, seed: string, entropy = true): Linear {
  const random = randomStream(seed);
  const make = () => Float32Array.from(batch.target_A, () => random.normal());
  return entropy ? { logp: make(), entropy: make() } : { logp: make() };
}

export function near(
  got: ArrayLike<number>,
  want: ArrayLike<number>,
  tolerance: number,
  what = "value",
): void {
  assert.equal(got.length, want.length, `${what}: length`);
  for (let i = 0; i < want.length; i++) {
    assert.ok(
      Math.abs(got[i]! - want[i]!) <= tolerance,
      `${what}[${i}]: got ${got[i]}, expected ${want[i]} ± ${tolerance}`,
    );
  }
}

/** The weights that a model holds in its engine thread. */
export async function weightsOf(host: Host, handle: number): Promise<Weights> {
  return (await host.call("contents", handle)).weights;
}

export const failsWith =
  (code: ErrorCode, message: RegExp = /./) =>
  (e: unknown): true => {
    assert.ok(isWhetstoneError(e), `not a WhetstoneError: ${String(e)}`);
    assert.equal(e.code, code);
    assert.match(e.message, message);
    return true;
  };

/** A sample as text, exact to the last bit. */
export function bitsOf(sample: Sample): string {
  const hex = (xs: Float32Array): string =>
    Buffer.from(xs.buffer, xs.byteOffset, xs.byteLength).toString("hex");
  return [
    sample.action.join(),
    hex(sample.logp),
    hex(sample.behaviour),
    hex(sample.entropy!),
    sample.stop,
    sample.version,
  ].join(" ");
}
