/** Whole GRPO iterations beside TRL, and what of ours passes outside the engine. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ours, pythonPeer } from "./contestants.ts";
import type { Bench } from "./main.ts";
import { alternate, type Entrant } from "./measure.ts";
import type { IterationMeasure, IterationOrder } from "./our-iteration.ts";
import { type SizeName, sizes, taskTexts } from "./workload.ts";

type Shape = Pick<IterationOrder, "tasksPerIteration" | "groupSize" | "maxTokens" | "lora">;

/** The large size is trained as its users do, with an adapter. */
const shapeOf = (size: SizeName): Shape =>
  size === "135M"
    ? { tasksPerIteration: 4, groupSize: 8, maxTokens: 48, lora: 16 }
    : { tasksPerIteration: 8, groupSize: 8, maxTokens: 32 };

export const iterationBench: Bench = {
  peers: ["trl"],
  async run(options) {
    for (const size of options.sizes) {
      const folder = join(options.scratch, `iteration-${size}`);
      const shape = shapeOf(size);
      const { tasksPerIteration, groupSize, maxTokens, lora } = shape;
      const us = ours(options);
      const peers = options.peers.map(() => pythonPeer("TRL", "iteration.py", options));
      const sides = [us, ...peers];
      for (const side of sides) options.addVersions(await side.ask({ run: "about" }));
      // in a process of its own, whose memory does not count
      const maker = ours(options);
      await maker.ask({ run: "make", size, folder });
      maker.close();
      const order: IterationOrder = {
        size,
        folder,
        scratch: options.scratch,
        texts: taskTexts(sizes[size].vocabulary, 64),
        ...shape,
      };
      for (const side of sides) await side.ask({ run: "start", ...order });

      const outside: number[] = [];
      const lengths: Record<string, number[]> = {};
      const peaks: Record<string, number[]> = {};
      const entrants: Entrant[] = sides.map((side) => ({
        name: side.name,
        run: async (times) => {
          const done = await side.ask<IterationMeasure>({ run: "iterate", times });
          if (side === us) outside.push((100 * done.outside) / done.seconds);
          (lengths[side.name] ??= []).push(done.tokens / times / (tasksPerIteration * groupSize));
          peaks[side.name] = [done.peak];
          return done;
        },
      }));
      // a measure counts iterations here
      const perIteration = entrants.map(
        (e): Entrant => ({
          name: e.name,
          run: async (times) => ({ seconds: (await e.run(times)).seconds, tokens: times }),
        }),
      );
      const what = lora === undefined ? size : `${size}, LoRA of rank ${lora}`;
      const warmUps = size === "135M" ? 2 : 3;
      const measures = await alternate(`iteration ${size}`, perIteration, { ...options, warmUps });
      options.keep("iteration", [
        {
          key: `iteration/${size}`,
          table: `One GRPO iteration, ${tasksPerIteration} prompts × ${groupSize} replies of ${maxTokens} tokens, seconds (less is better)`,
          what,
          unit: "s",
          better: "less",
          values: Object.fromEntries(
            [...measures].map(([name, of]) => [name, of.map((m) => m.seconds / m.tokens)]),
          ),
          about: { ...shape, tokensPerReply: lengths },
        },
        {
          key: `iteration memory/${size}`,
          table: "Most resident memory over these iterations, MiB (less is better)",
          what,
          unit: "MiB",
          better: "less",
          values: peaks,
          about: { ...shape },
        },
        {
          key: `outside/${size}`,
          table: "Share of our iteration outside the engine, %",
          what,
          unit: "%",
          better: "less",
          values: { whetstone: outside.slice(warmUps) },
          about: { means: "no call of sample, score, accumulate or step under way" },
        },
      ]);
      for (const side of sides) side.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
