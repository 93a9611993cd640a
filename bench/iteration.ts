/** Whole GRPO iterations beside TRL, and what of ours passes outside the engine. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ours, pythonPeer } from "./contestants.ts";
import type { Bench } from "./main.ts";
import { alternate, type Entrant } from "./measure.ts";
import type { IterationMeasure, IterationOrder } from "./our-iteration.ts";
import { sizes, taskTexts } from "./workload.ts";

const tasksPerIteration = 8;
const groupSize = 8;
const maxTokens = 32;

export const iterationBench: Bench = {
  peers: ["trl"],
  async run(options) {
    for (const size of options.sizes) {
      const folder = join(options.scratch, `iteration-${size}`);
      const us = ours(options);
      const peers = options.peers.map(() => pythonPeer("TRL", "iteration.py", options));
      const sides = [us, ...peers];
      for (const side of sides) options.addVersions(await side.ask({ run: "about" }));
      await us.ask({ run: "make", size, folder });
      const order: IterationOrder = {
        size,
        folder,
        scratch: options.scratch,
        texts: taskTexts(sizes[size].vocabulary, 64),
        groupSize,
        maxTokens,
        tasksPerIteration,
      };
      for (const side of sides) await side.ask({ run: "start", ...order });

      const outside: number[] = [];
      const lengths: Record<string, number[]> = {};
      const entrants: Entrant[] = sides.map((side) => ({
        name: side.name,
        run: async (times) => {
          const done = await side.ask<IterationMeasure>({ run: "iterate", times });
          if (side === us) outside.push((100 * done.outside) / done.seconds);
          (lengths[side.name] ??= []).push(done.tokens / times / (tasksPerIteration * groupSize));
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
      const warmUps = 3;
      const measures = await alternate(`iteration ${size}`, perIteration, { ...options, warmUps });
      options.keep("iteration", [
        {
          key: `iteration/${size}`,
          table: `One GRPO iteration, ${tasksPerIteration} prompts × ${groupSize} replies of ${maxTokens} tokens, seconds (less is better)`,
          what: size,
          unit: "s",
          better: "less",
          values: Object.fromEntries(
            [...measures].map(([name, of]) => [name, of.map((m) => m.seconds / m.tokens)]),
          ),
          about: { tasksPerIteration, groupSize, maxTokens, tokensPerReply: lengths },
        },
        {
          key: `outside/${size}`,
          table: "Share of our iteration outside the engine, %",
          what: size,
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
