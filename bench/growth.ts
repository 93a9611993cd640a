/** What grows and what must not: cost with tokens, memory with iterations. Ours alone. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../src/common/statistics/statistics.ts";
import { ours } from "./contestants.ts";
import type { Bench, BenchOptions } from "./main.ts";
import { alternate, type Entrant, type Measure } from "./measure.ts";
import { type Case, progress } from "./report.ts";
import { denseRows, type SizeName, sizes } from "./workload.ts";

const multiples = [1, 4, 16];
const rowsOnce = 8;

/** Seconds for a thousand tokens of one optimiser step, over 1, 4 and 16 times the tokens. */
async function costCases(size: SizeName, options: BenchOptions): Promise<Case[]> {
  const folder = join(options.scratch, `growth-${size}`);
  const us = ours(options);
  await us.ask({ run: "make", size, folder });
  await us.ask({ run: "open", size, folder });
  const entrants: Entrant[] = [];
  for (const multiple of multiples) {
    const name = `${multiple}×`;
    await us.ask({ run: "rows", name, rows: denseRows(sizes[size].vocabulary, rowsOnce * multiple) });
    entrants.push({ name, run: (times) => us.ask<Measure>({ run: "train", rows: name, times }) });
  }
  const measures = await alternate(`growth ${size}`, entrants, options);
  us.close();
  rmSync(folder, { recursive: true, force: true });
  const perThousand = (of: readonly Measure[]): number[] => of.map((m) => (1000 * m.seconds) / m.tokens);
  const once = median(perThousand(measures.get("1×")!));
  return multiples.map((multiple) => {
    const values = perThousand(measures.get(`${multiple}×`)!);
    return {
      key: `growth/${size}/${String(multiple).padStart(2, "0")}`,
      table: "Seconds for 1,000 tokens of an optimiser step (linear cost: alike in every row)",
      what: `${size}, ${(multiple * rowsOnce * 128).toLocaleString("en")} tokens a step`,
      unit: "s",
      better: "less",
      values: { whetstone: values },
      about: { againstOnce: median(values) / once },
    };
  });
}

const iterations = 2000;
const every = 100;

/** Slope of a straight line through (0, ys[0]), (1, ys[1])…, by least squares. */
function slope(ys: readonly number[]): number {
  const middle = (ys.length - 1) / 2;
  const top = ys.reduce((sum, y, x) => sum + (x - middle) * y, 0);
  const bottom = ys.reduce((sum, _, x) => sum + (x - middle) ** 2, 0);
  return top / bottom;
}

/** Resident memory over many tiny iterations (8 samples, 8 rows, one step), each with rows of other lengths. */
async function memoryCase(options: BenchOptions): Promise<Case> {
  const size: SizeName = "0.5M";
  const folder = join(options.scratch, "growth-memory");
  const us = ours(options);
  await us.ask({ run: "make", size, folder });
  await us.ask({ run: "open", size, folder });
  const resident: number[] = [];
  for (let done = 0; done < iterations; done += every) {
    const { now } = await us.ask<{ now: number }>({
      run: "live",
      vocabulary: sizes[size].vocabulary,
      from: done,
      count: every,
    });
    resident.push(now);
    progress(`memory: ${done + every} of ${iterations} iterations, ${now.toFixed(0)} MiB`);
  }
  us.close();
  rmSync(folder, { recursive: true, force: true });
  // the first quarter fills caches of programs and the JavaScript heap
  const settled = resident.slice(resident.length / 4);
  return {
    key: "memory/iterations",
    table: `Growth of resident memory after the first quarter of ${iterations.toLocaleString("en")} tiny iterations, MiB per 1,000 iterations`,
    what: `${size}; ${settled[0]!.toFixed(0)} MiB, then ${settled.at(-1)!.toFixed(0)} MiB`,
    unit: "MiB",
    better: "less",
    values: { whetstone: [slope(settled) * (1000 / every)] },
    about: { every, resident },
  };
}

export const growthBench: Bench = {
  peers: [],
  async run(options) {
    for (const size of options.sizes) options.keep("growth", await costCases(size, options));
    options.keep("growth", [await memoryCase(options)]);
  },
};
