/** Sampling: tokens per second beside Transformers' generate and llama.cpp. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Contestant, llamaPeer, ours, pythonPeer } from "./contestants.ts";
import type { Bench } from "./main.ts";
import { alternate, type Entrant, type Measure, rates } from "./measure.ts";
import { progress } from "./report.ts";
import { contextTokens, type SizeName, samplePrompts, sizes } from "./workload.ts";

const newTokens = 64;

interface Shape {
  readonly what: string;
  readonly key: string;
  readonly distinct: number;
  readonly copies: number;
}
const wide: readonly Shape[] = [
  { what: "64 prompts", key: "64", distinct: 64, copies: 1 },
  { what: "8 prompts × 8", key: "8x8", distinct: 8, copies: 8 },
];
/** What llama.cpp decodes side by side as well. */
const narrow: readonly Shape[] = [{ what: "16 prompts", key: "16", distinct: 16, copies: 1 }];

/** Prompts that `n` users ask at once. */
const users = (n: number): Shape => ({
  what: `${n} prompt${n === 1 ? "" : "s"}`,
  key: `${n}`,
  distinct: n,
  copies: 1,
});

/** Which shapes are measured beside Transformers alone, and which beside llama.cpp too. */
const shapesOf = (size: SizeName) =>
  size === "135M" ? { wide: [], narrow: [1, 8, 32].map(users) } : { wide, narrow };

/** Most probable tokens of all sides must be alike; rounding may part a pair that is nearly as probable. */
async function requireAgreement(us: Contestant, peers: readonly Contestant[], size: SizeName): Promise<void> {
  const order = {
    run: "sample",
    prompts: samplePrompts(sizes[size].vocabulary, 16, 1),
    maxTokens: 8,
    temperature: 0,
  };
  const greedy = async (side: Contestant): Promise<readonly (readonly number[])[]> =>
    (await side.ask<{ actions: readonly (readonly number[])[] }>(order)).actions;
  const own = await greedy(us);
  for (const peer of peers) {
    const other = await greedy(peer);
    // ours may end early with the end token, which the peers are told to ignore
    const same = own.filter((action, i) => action.every((token, t) => token === other[i]![t])).length;
    const text = `${size}: ${same} of ${own.length} most probable replies as ${peer.name}'s`;
    if (same < 0.8 * own.length) throw new Error(`sides disagree: ${text}`);
    progress(text);
  }
}

/** llama.cpp's faster of one thread and all, left open with it. */
async function bestThreads(
  llama: Contestant,
  file: string,
  size: SizeName,
  threads: number,
): Promise<number> {
  const parallel = Math.max(...shapesOf(size).narrow.map(({ distinct }) => distinct));
  const prompts = samplePrompts(sizes[size].vocabulary, parallel, 1);
  const open = (use: number) => llama.ask({ run: "open", file, tokens: contextTokens, use, parallel });
  const tried: { use: number; seconds: number }[] = [];
  for (const use of new Set([1, threads])) {
    progress(`${size}: llama.cpp tries ${use} ${use === 1 ? "thread" : "threads"}`);
    await open(use);
    await llama.ask({ run: "sample", prompts, maxTokens: 8 });
    const { seconds } = await llama.ask<Measure>({ run: "sample", prompts, maxTokens: 16 });
    tried.push({ use, seconds });
  }
  const best = tried.reduce((a, b) => (b.seconds < a.seconds ? b : a)).use;
  await open(best);
  return best;
}

export const sampleBench: Bench = {
  peers: ["transformers", "llama.cpp"],
  async run(options) {
    for (const size of options.sizes) {
      const folder = join(options.scratch, `sample-${size}`);
      const us = ours(options);
      const hasLlama = options.peers.includes("llama.cpp");
      const hasTransformers = options.peers.includes("transformers");
      // the same script writes the file that llama.cpp reads
      const transformers =
        hasLlama || hasTransformers ? pythonPeer("Transformers", "sample.py", options) : undefined;
      const llama = hasLlama ? llamaPeer(options) : undefined;
      const sides = [us, ...(transformers ? [transformers] : []), ...(llama ? [llama] : [])];
      for (const side of sides) options.addVersions(await side.ask({ run: "about" }));
      let llamaThreads = 0;
      await us.ask({ run: "make", size, folder });
      await us.ask({ run: "open", size, folder });
      await transformers?.ask({ run: "open", folder });
      if (llama) {
        const file = join(folder, "model.gguf");
        await transformers!.ask({ run: "gguf", folder, file });
        llamaThreads = await bestThreads(llama, file, size, options.threads);
      }
      await requireAgreement(us, sides.slice(1), size);

      const measured = async ({ what, key, distinct, copies }: Shape, at: readonly Contestant[]) => {
        const prompts = samplePrompts(sizes[size].vocabulary, distinct, copies);
        const lengths: Record<string, number[]> = {};
        const entrants: Entrant[] = at.map((side) => ({
          name: side.name,
          run: async (times) => {
            const done = await side.ask<Measure>({ run: "sample", prompts, maxTokens: newTokens, times });
            (lengths[side.name] ??= []).push(done.tokens / times / prompts.length);
            return done;
          },
        }));
        const values = rates(await alternate(`sample ${size}, ${what}`, entrants, options));
        options.keep("sample", [
          {
            key: `sample/${size}/${key}`,
            table: `Sampling ${newTokens} tokens after prompts of 32, tokens per second`,
            what: `${size}, ${what}`,
            unit: "tokens/s",
            better: "more",
            values,
            about: {
              promptTokens: 32,
              newTokens,
              tokensPerReply: lengths,
              ...(llama && at.includes(llama) ? { llamaThreads } : {}),
            },
          },
        ]);
      };
      const shapes = shapesOf(size);
      for (const shape of shapes.wide) await measured(shape, hasTransformers ? [us, transformers!] : [us]);
      const all = sides.filter((side) => side !== transformers || hasTransformers);
      for (const shape of shapes.narrow) await measured(shape, all);
      for (const side of sides) side.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
