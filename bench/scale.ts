// How a run scales over nodes, lengths of rollouts and staleness, simulated.
//
//     node bench/scale.ts [--seeds 5] [--iterations 20]
//
// The model, the GPU and the work stand in scale/cluster.ts, with what is assumed of them; bytes are those of our own
// messages. The same simulator is held against what bench/staleness.ts measured. Writes bench/results/scale.md and .svg.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { meanInterval } from "../src/common/statistics/statistics.ts";
import type { Interval } from "../src/core/interval.ts";
import { progress } from "./report.ts";
import { assumed, planOf } from "./scale/cluster.ts";
import { drawn } from "./scale/draw.ts";
import { type Simulated, simulate, type Work } from "./scale/simulate.ts";

const { values } = parseArgs({
  options: { seeds: { type: "string", default: "5" }, iterations: { type: "string", default: "20" } },
});
const [seeds, iterations] = [Number(values.seeds), Number(values.iterations)];
const results = join(import.meta.dirname, "results");
const sizes = [2, 4, 8, 16, 32, 64, 100, 128];
const sigmas = [0, 0.6, 1.2];
const stalenesses = [0, 1, 2, 4];

interface Point {
  readonly nodes: number;
  readonly trainers: number;
  readonly sigma: number;
  readonly staleness: number;
  readonly seconds: Interval;
  readonly last: Simulated;
}

const workOf = (nodes: number, trainers: number, sigma: number, staleness: number): Work => ({
  episodes: assumed.episodes,
  mean: planOf({ nodes, trainers }).episode,
  lengths: { sigma },
  staleness,
});

/** With the share of trainers that makes it fastest. */
function measured(nodes: number, sigma: number, staleness: number): Point {
  const shares = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5].map((share) => Math.max(1, Math.round(share * nodes)));
  const tried = [...new Set(shares)].map((trainers) => {
    const { cluster } = planOf({ nodes, trainers });
    return { trainers, ...simulate(cluster, workOf(nodes, trainers, sigma, staleness), 4, 0) };
  });
  const { trainers } = tried.toSorted((a, b) => a.iteration - b.iteration)[0]!;
  const { cluster } = planOf({ nodes, trainers });
  const runs = Array.from({ length: seeds }, (_, seed) =>
    simulate(cluster, workOf(nodes, trainers, sigma, staleness), iterations, seed + 1),
  );
  const seconds = meanInterval(runs.map((r) => r.iteration));
  return { nodes, trainers, sigma, staleness, seconds, last: runs.at(-1)! };
}

const points = sizes.flatMap((nodes) => {
  progress(`${nodes} nodes`);
  return sigmas.flatMap((sigma) => stalenesses.map((staleness) => measured(nodes, sigma, staleness)));
});
const at = (nodes: number, sigma: number, staleness: number): Point =>
  points.find((p) => p.nodes === nodes && p.sigma === sigma && p.staleness === staleness)!;

const said = ({ seconds: { mean, low, high } }: Point): string =>
  `${mean.toFixed(0)} s (${low.toFixed(0)}–${high.toFixed(0)})`;
const dollars = ({ nodes, seconds }: Point): number =>
  (nodes * assumed.gpusPerNode * assumed.price * seconds.mean) / 3600;
const bytes = (n: number): string => (n > 1e9 ? `${(n / 1e9).toFixed(2)} GB` : `${(n / 1e6).toFixed(0)} MB`);

/** What the simulator says of the runs that bench/staleness.ts made, beside what was measured. */
function check(): string[] {
  const file = join(results, "staleness.md");
  if (!existsSync(file)) return [];
  const rows = [...readFileSync(file, "utf8").matchAll(/^\| (\d) \| ([\d.]+) s/gm)];
  const turn = 0.4 * Math.exp(0.5 ** 2 / 2);
  // two turns, each log-normal: the variance of a sum of two, relative to its mean, is half of that of one
  const sigma = Math.sqrt(Math.log(1 + Math.expm1(0.5 ** 2) / 2));
  return rows.map(([, n, seconds]) => {
    const staleness = Number(n);
    // forward, backward and step; with staleness the pass for the weights; a snapshot and its proof; the weights' saving
    const cluster = {
      slots: 128,
      learning: 0.65 + (staleness > 0 ? 0.15 : 0),
      handing: 0.1 + (staleness > 0 ? 0.05 : 0),
    };
    const work: Work = { episodes: 16, mean: 2 * turn, lengths: { sigma }, staleness };
    const runs = Array.from({ length: 20 }, (_, seed) => simulate(cluster, work, 50, seed).iteration);
    return `| ${n} | ${meanInterval(runs).mean.toFixed(2)} s | ${seconds} s |`;
  });
}

const hundred = planOf({ nodes: 100, trainers: at(100, 1.2, 1).trainers });
const text = [
  "# A run on many nodes, simulated",
  "",
  `${seeds} seeds of ${iterations} iterations; 95 % intervals over seeds. Assumed, not measured: a model of ${assumed.parameters / 1e9} billion weights, LoRA of rank ${assumed.rank}; nodes of ${assumed.gpusPerNode} H100 (${assumed.bandwidth / 1e12} TB/s, of which decoding reaches ${100 * assumed.decoding} %; ${assumed.operations / 1e12} TFLOP/s, of which training reaches ${100 * assumed.training} %), ${assumed.sequences} sequences on each GPU; ${assumed.episodes} episodes an iteration of ${assumed.written} tokens written, ${assumed.read} read and ${assumed.environment} s of tools; ${(8 * assumed.uplink) / 1e9} Gbit/s to the client, ${(8 * assumed.network) / 1e9} Gbit/s between nodes; ${assumed.price} dollars for an hour of a GPU. An episode takes ${hundred.episode.toFixed(0)} s in the mean, log-normal around it with deviation σ of the logarithm. For each point the share of training nodes is the best of seven.`,
  "",
  "![seconds of an iteration over nodes, σ = 1.2](scale.svg)",
  "",
  ...sigmas.flatMap((sigma) => [
    `## Seconds of an iteration, σ = ${sigma}`,
    "",
    `| nodes | ${stalenesses.map((n) => `N = ${n}`).join(" | ")} | trainers at N = 1 | of the places, writing | dollars at N = 0 | at N = 1 |`,
    `|---|${stalenesses.map(() => "---|").join("")}---|---|---|---|`,
    ...sizes.map((nodes) => {
      const one = at(nodes, sigma, 1);
      const cells = stalenesses.map((n) => said(at(nodes, sigma, n))).join(" | ");
      return `| ${nodes} | ${cells} | ${one.trainers} | ${(100 * one.last.writing).toFixed(0)} % | ${dollars(at(nodes, sigma, 0)).toFixed(2)} | ${dollars(one).toFixed(2)} |`;
    }),
    "",
  ]),
  "## What crosses the network in an iteration",
  "",
  "| from, to | what | bytes |",
  "|---|---|---|",
  `| client ↔ trainers | three passes over ${assumed.episodes} rows of ${assumed.written + assumed.read} tokens, in our messages, and the log-probabilities back | ${bytes(hundred.bytes.passes)} |`,
  `| client ↔ samplers | prompts out; tokens and log-probabilities back | ${bytes(hundred.bytes.samples)} |`,
  `| trainers → samplers | the adapter, ${(hundred.adapterParameters / 1e6).toFixed(0)} million numbers of 4 bytes, to each sampling node | ${bytes(hundred.bytes.adapter)} each |`,
  `| all weights instead of an adapter | 2 bytes each, to each sampling node | ${bytes(2 * assumed.parameters)} each |`,
  "",
  "## The simulator against runs that were made",
  "",
  "`node bench/staleness.ts`, whose stub takes known times; the simulator knows nothing of what the client computes.",
  "",
  "| staleness | simulated | measured |",
  "|---|---|---|",
  ...check(),
  "",
].join("\n");
writeFileSync(join(results, "scale.md"), text);
writeFileSync(
  join(results, "scale.svg"),
  drawn(
    stalenesses.map((staleness) => ({
      name: `staleness ${staleness}`,
      points: sizes.map((nodes) => {
        const { seconds } = at(nodes, 1.2, staleness);
        return { x: nodes, y: seconds.mean, low: seconds.low, high: seconds.high };
      }),
    })),
    { x: "nodes", y: "seconds of an iteration" },
  ),
);
process.stdout.write(text);
