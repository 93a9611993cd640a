/** Our side of the benches, in a process of its own: answers requests, one JSON object a line. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { mean } from "../src/common/statistics/statistics.ts";
import type { Batch } from "../src/core/batch.ts";
import type { Model } from "../src/core/model.ts";
import type { Engine } from "../src/engine/engine.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { compile } from "../src/tensor/compile.ts";
import { createSession } from "../src/tensor/execute.ts";
import { input } from "../src/tensor/graph.ts";
import { matmul } from "../src/tensor/ops/matmul.ts";
import { batchOf, nll, rule } from "./imitation.ts";
import { serve } from "./lines.ts";
import { iterations } from "./our-iteration.ts";
import { contextTokens, type SizeName, sizes, type TargetRow, tinyRows, vocabularyOf } from "./workload.ts";

const { values } = parseArgs({ options: { threads: { type: "string", default: "2" } } });
const threads = Number(values.threads);

let engine: Engine | undefined;
let policy: Model | undefined;
const batches = new Map<string, Batch>();
let seed = 0;

function model(): Model {
  if (!policy) throw new Error("no model is open");
  return policy;
}

function rowsNamed(name: string): Batch {
  const batch = batches.get(name);
  if (!batch) throw new Error(`no rows "${name}"`);
  return batch;
}

function engineOf(size: SizeName): Engine {
  return localEngine({ size: sizes[size].decoder, tokenizer: "words", threads });
}

/** An adapter of this rank on the weights in a folder. */
const adaptedFrom = (from: string, rank: number): Engine => localEngine({ from, lora: { rank }, threads });

/** Resident memory in MiB, now and at its highest. */
function memory(): { now: number; peak: number } {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const kib = (name: string): number => Number(new RegExp(`${name}:\\s*(\\d+)`).exec(status)![1]);
    return { now: kib("VmRSS") / 1024, peak: kib("VmHWM") / 1024 };
  } catch {
    return { now: process.memoryUsage.rss() / 2 ** 20, peak: process.resourceUsage().maxRSS / 1024 };
  }
}

await serve({
  about: () => ({ versions: {} }),

  /** A fresh model of a size, saved for everyone. */
  async make({ size, folder }: { size: SizeName; folder: string }) {
    const { decoder, vocabulary } = sizes[size];
    const making = localEngine({ size: decoder, tokenizer: "words", threads });
    const made = await making.create({
      id: "policy",
      seed: 1,
      vocabulary: vocabularyOf(vocabulary),
      contextTokens,
    });
    mkdirSync(folder, { recursive: true });
    await made.save(folder);
    const { parameters } = made;
    await making.dispose();
    return { parameters };
  },

  async open({ size, folder }: { size: SizeName; folder: string }) {
    await engine?.dispose();
    engine = engineOf(size);
    policy = await engine.open("policy", folder);
    return { parameters: policy.parameters };
  },

  rows({ name, rows }: { name: string; rows: readonly TargetRow[] }) {
    batches.set(name, batchOf(rows));
  },

  /** Mean log-probability of the targets. */
  async score({ rows }: { rows: string }) {
    const { logp } = await model().score(rowsNamed(rows));
    return { logp: mean([...logp]) };
  },

  /** Whole optimiser steps over all rows. */
  async train({ rows, times }: { rows: string; times: number }) {
    const batch = rowsNamed(rows);
    const began = performance.now();
    for (let i = 0; i < times; i++) {
      await model().accumulate(batch, nll, batch.target_A.length);
      await model().step(rule);
    }
    return { seconds: (performance.now() - began) / 1000, tokens: times * batch.tokens_N.length };
  },

  async sample({ prompts, maxTokens, times = 1, temperature = 1 }: SampleOrder) {
    const of = prompts.map((prompt) => Int32Array.from(prompt));
    let tokens = 0;
    let last: readonly (readonly number[])[] = [];
    const began = performance.now();
    for (let i = 0; i < times; i++) {
      const samples = await model().sample(
        of.map((prompt) => ({ prompt, maxTokens, temperature, seed: seed++ })),
      );
      for (const { action } of samples) tokens += action.length;
      last = samples.map(({ action }) => [...action]);
    }
    const seconds = (performance.now() - began) / 1000;
    return { seconds, tokens, ...(temperature === 0 ? { actions: last } : {}) };
  },

  /** Tiny iterations, each with its own rows. */
  async live({ vocabulary, from, count }: { vocabulary: number; from: number; count: number }) {
    for (let i = from; i < from + count; i++) {
      const rows = tinyRows(vocabulary, i);
      const prompts = rows.map(({ tokens, from }) => Int32Array.from(tokens.slice(0, from)));
      await model().sample(prompts.map((prompt) => ({ prompt, maxTokens: 8, seed: seed++ })));
      const batch = batchOf(rows);
      await model().accumulate(batch, nll, batch.target_A.length);
      await model().step(rule);
    }
    return memory();
  },

  /** With everything loaded but no model yet; the high-water mark starts again from here. */
  async baseline() {
    const idle = localEngine({
      size: { ...sizes["0.5M"].decoder, width: 64, heads: 1, kvHeads: 1 },
      threads,
    });
    const tiny = await idle.create({ id: "tiny", seed: 1, vocabulary: ["a"], contextTokens: 8 });
    await tiny.score(batchOf([{ tokens: [1, 2, 3], from: 1, group: "a" }]));
    await idle.dispose();
    try {
      writeFileSync("/proc/self/clear_refs", "5");
    } catch {
      // other systems keep the mark; what was needed so far is little
    }
    return memory();
  },
  memory,

  /** Rate of a product of [m, k] and [k, n] matrices, in operations per second. */
  async matmul({ m, k, n, times }: { m: number; k: number; n: number; times: number }) {
    const [a, b] = [input("a", [m, k]), input("b", [k, n])];
    const session = await createSession(compile([a, b], { product: matmul(a, b) }), { threads });
    const random = (size: number): Float32Array =>
      Float32Array.from({ length: size }, () => Math.random() - 0.5);
    const feeds = { a: random(m * k), b: random(k * n) };
    const product = new Float32Array(m * n);
    await session.run(feeds, { product });
    const began = performance.now();
    for (let i = 0; i < times; i++) await session.run(feeds, { product });
    const seconds = (performance.now() - began) / 1000;
    await session.release();
    return { seconds, tokens: 2 * m * k * n * times };
  },

  ...iterations(engineOf, adaptedFrom, memory),
});
await engine?.dispose();

interface SampleOrder {
  readonly prompts: readonly (readonly number[])[];
  readonly maxTokens: number;
  readonly times?: number;
  readonly temperature?: number;
}
