/** Training: tokens per second of whole optimiser steps, memory, and how near that comes to the machine's products. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../src/common/statistics/statistics.ts";
import { type Contestant, ours, pythonPeer } from "./contestants.ts";
import type { Bench, BenchOptions } from "./main.ts";
import { alternate, type Entrant, type Measure, rates } from "./measure.ts";
import { type Case, progress } from "./report.ts";
import { type SizeName, sizes, trainingFlops, type WorkloadName, workloads } from "./workload.ts";

/** Rows of a micro-batch that a peer may choose from; it gets the fastest. */
const microChoices = [8, 16, 32];
/** Rows of the dense workload, one micro-batch for all sides where memory is compared. */
const memoryMicro = 32;

const startPeer = (name: string, options: BenchOptions): Contestant =>
  name === "eager"
    ? pythonPeer("PyTorch eager", "train.py", options)
    : pythonPeer("torch.compile", "train.py", options, ["--compile"]);

/** Largest differences of mean log-probabilities, before and after one step on the same rows. */
const tolerance = { before: 1e-3, after: 5e-3 };

/** Sides that do not compute the same thing must not be compared. */
async function requireAgreement(us: Contestant, peer: Contestant, size: SizeName): Promise<void> {
  for (const when of ["before", "after"] as const) {
    if (when === "after") {
      for (const side of [us, peer]) await side.ask({ run: "train", rows: "dense", times: 1, micro: 32 });
    }
    for (const rows of ["dense", "rollouts"]) {
      const [a, b] = [
        await us.ask<{ logp: number }>({ run: "score", rows }),
        await peer.ask<{ logp: number }>({ run: "score", rows }),
      ];
      const text = `${size}, ${rows}, mean log-probability ${when} one step: ${a.logp.toFixed(5)} and ${peer.name} ${b.logp.toFixed(5)}`;
      if (!(Math.abs(a.logp - b.logp) <= tolerance[when])) throw new Error(`sides disagree: ${text}`);
      progress(text);
    }
  }
}

/** The fastest of the micro-batches for a peer, by one step each after one that warms up. */
async function bestMicro(peer: Contestant, rows: string, choices: readonly number[]): Promise<number> {
  const tried: { micro: number; seconds: number }[] = [];
  for (const micro of choices) {
    progress(`${peer.name} tries micro-batches of ${micro} rows`);
    await peer.ask({ run: "train", rows, times: 1, micro });
    const { seconds } = await peer.ask<Measure>({ run: "train", rows, times: 1, micro });
    tried.push({ micro, seconds });
  }
  return tried.reduce((a, b) => (b.seconds < a.seconds ? b : a)).micro;
}

async function matmulRate(
  us: Contestant,
  eager: Contestant | undefined,
  options: BenchOptions,
  { width, feedForward }: { width: number; feedForward: number },
): Promise<Case[]> {
  const tokens = 4096;
  const shapes: readonly (readonly [number, number, number])[] = [
    [1024, 1024, 1024],
    [tokens, width, width],
    [tokens, width, feedForward],
    [tokens, feedForward, width],
  ];
  const cases: Case[] = [];
  for (const [m, k, n] of shapes) {
    const times = Math.ceil(5e10 / (2 * m * k * n));
    const label = `${m}×${k} by ${k}×${n}`;
    const entrants: Entrant[] = [us, ...(eager ? [eager] : [])].map((side) => ({
      name: side === us ? "ONNX Runtime" : "PyTorch",
      run: () => side.ask<Measure>({ run: "matmul", m, k, n, times }),
    }));
    const measures = await alternate(`product ${label}`, entrants, { rounds: options.rounds, warmUps: 1 });
    const values = Object.fromEntries(
      Object.entries(rates(measures)).map(([name, xs]) => [name, xs.map((x) => x / 1e9)]),
    );
    cases.push({
      key: `matmul/${m}x${k}x${n}`,
      table: "Matrix products, GFLOP/s",
      what: label,
      unit: "GFLOP/s",
      better: "more",
      values,
    });
  }
  return cases;
}

/** What part of the machine's rate, the median over shapes of the faster library, each side's training comes to. */
function shareCase(
  size: SizeName,
  workload: WorkloadName,
  rates: Readonly<Record<string, readonly number[]>>,
  gflopPerToken: number,
  products: readonly Case[],
): Case {
  const machine = median(
    products.map(({ values }) => Math.max(...Object.values(values).map((xs) => median(xs)))),
  );
  const values = Object.entries(rates).map(([name, xs]) => [
    name,
    xs.map((x) => (100 * x * gflopPerToken) / machine),
  ]);
  return {
    key: `share/${size}/${workload}`,
    table: "Share of the machine's matrix-product rate that training reaches, %",
    what: `${size}, ${workload}, of ${machine.toFixed(0)} GFLOP/s`,
    unit: "%",
    better: "more",
    values: Object.fromEntries(values),
    about: { machineGflops: machine, gflopPerToken },
  };
}

/** Peak resident memory of fresh processes that train on the dense rows, above what they needed before the model. */
async function memoryCase(size: SizeName, folder: string, options: BenchOptions): Promise<Case> {
  const values: Record<string, number[]> = {};
  const absolute: Record<string, number[]> = {};
  const rows = workloads.dense(sizes[size].vocabulary);
  const starts: (() => Contestant)[] = [
    () => ours(options),
    ...options.peers.map((name) => () => startPeer(name, options)),
  ];
  // memory does not drift as time does: fewer rounds do
  for (let round = 0; round < Math.min(3, options.rounds); round++) {
    for (const begin of starts) {
      const side = begin();
      progress(`${size}, memory: ${side.name}, fresh process ${round + 1}`);
      const { now } = await side.ask<{ now: number }>({ run: "baseline" });
      await side.ask({ run: "open", size, folder });
      await side.ask({ run: "rows", name: "dense", rows });
      await side.ask({ run: "train", rows: "dense", times: 4, micro: memoryMicro });
      const { peak } = await side.ask<{ peak: number }>({ run: "memory" });
      (values[side.name] ??= []).push(peak - now);
      (absolute[side.name] ??= []).push(peak);
      side.close();
    }
  }
  return {
    key: `memory/${size}`,
    table: "Peak memory of training on dense rows above the idle process, MiB (less is better)",
    what: size,
    unit: "MiB",
    better: "less",
    values,
    about: { peak: absolute, microBatchRows: memoryMicro },
  };
}

export const trainBench: Bench = {
  peers: ["eager", "compile"],
  async run(options) {
    for (const size of options.sizes) {
      const folder = join(options.scratch, `train-${size}`);
      const us = ours(options);
      const peers = options.peers.map((name) => startPeer(name, options));
      const eager = peers[options.peers.indexOf("eager")];
      const sides = [us, ...peers];
      for (const side of sides) options.addVersions(await side.ask({ run: "about" }));
      await us.ask({ run: "make", size, folder });
      for (const side of sides) {
        await side.ask({ run: "open", size, folder });
        for (const [name, make] of Object.entries(workloads))
          await side.ask({ run: "rows", name, rows: make(sizes[size].vocabulary) });
      }
      if (eager) await requireAgreement(us, eager, size);

      const products = size === "25M" ? await matmulRate(us, eager, options, sizes[size].decoder) : [];
      options.keep("train", products);
      for (const workload of Object.keys(workloads) as WorkloadName[]) {
        const rows = workloads[workload](sizes[size].vocabulary);
        const micro: Record<string, number> = {};
        for (const peer of peers) {
          // each choice is another compilation: the compiled peer takes the one that is best for eager
          const known = eager && peer !== eager ? micro[eager.name] : undefined;
          micro[peer.name] = await bestMicro(peer, workload, known ? [known] : microChoices);
        }
        const entrants: Entrant[] = sides.map((side) => ({
          name: side.name,
          run: (times) => side.ask<Measure>({ run: "train", rows: workload, times, micro: micro[side.name] }),
        }));
        const values = rates(await alternate(`train ${size} ${workload}`, entrants, options));
        const tokens = rows.reduce((n, row) => n + row.tokens.length, 0);
        const gflopPerToken = trainingFlops(sizes[size], rows) / tokens / 1e9;
        options.keep("train", [
          {
            key: `train/${size}/${workload}`,
            table: "Training, tokens per second",
            what: `${size}, ${workload}`,
            unit: "tokens/s",
            better: "more",
            values,
            about: { rows: rows.length, tokens, microBatchRows: micro, gflopPerToken },
          },
          ...(products.length > 0 ? [shareCase(size, workload, values, gflopPerToken, products)] : []),
        ]);
      }
      for (const side of sides) side.close();
      options.keep("train", [await memoryCase(size, folder, options)]);
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
