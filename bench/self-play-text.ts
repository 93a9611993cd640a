// A small transformer learns Nim in text by playing itself, from a warm start that imitates random legal moves.
//
//     node bench/self-play-text.ts [--seeds 8] [--iterations 60]
//
// Everything is exact: the policy's probability of every move in every position, what is no move counted as the loss that it is. Rows go
// to bench/results/self-play-text.jsonl as they are done, a second call goes on, and the table goes into docs/self-play.md.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mean, meanInterval } from "../src/common/statistics/statistics.ts";
import type { Model } from "../src/core/model.ts";
import { localEngine } from "../src/engine/local/index.ts";
import {
  type Game,
  gameEnvironment,
  nim,
  type Strategy,
  strategyOf,
  uniformStrategy,
} from "../src/env/index.ts";
import { grpo } from "../src/methods/baseline/grpo/method.ts";
import { sft } from "../src/methods/baseline/sft/method.ts";
import { trainInMemory } from "../src/train/trainInMemory.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";

const { values } = parseArgs({
  options: { seeds: { type: "string", default: "8" }, iterations: { type: "string", default: "60" } },
});
const [seeds, iterations] = [Number(values.seeds), Number(values.iterations)];
const firstSeed = 101;
const warmIterations = 150;
const size = { width: 64, layers: 2, heads: 4, kvHeads: 4, feedForward: 128 };

const environment = gameEnvironment(nim({ heaps: 2, most: 4 }) as Game);
const tree = environment.tree();

/** Probability of each move by information set; what is missing to 1 is no move. */
type Raw = readonly (readonly number[])[];

interface Row {
  readonly seed: number;
  readonly iterations: number;
  readonly games: number;
  readonly warm: Raw;
  /** After a third, two thirds and all of training. */
  readonly checkpoints: readonly Raw[];
}

async function rawOf(model: Model): Promise<Raw> {
  const { strategy, legal } = await strategyOf(tree, model);
  return strategy.map((p, set) => Array.from(p, (x) => x * legal[set]!));
}
const rawBy = (strategy: Strategy): Raw => strategy.map((p) => [...p]);

/** Share of games that the first wins, half of them from each role: Nim has no draws. */
function won(first: Raw, second: Raw): number {
  const seats = [0, 1].map((seat) => {
    const value = new Float64Array(tree.nodes.length);
    for (let at = tree.nodes.length - 1; at >= 0; at--) {
      const { set, children, payoffs } = tree.nodes[at]!;
      if (set < 0) value[at] = payoffs[seat]! > 0 ? 1 : 0;
      else {
        const own = tree.sets[set]!.role === seat;
        const p = (own ? first : second)[set]!;
        const missing = 1 - p.reduce((a, b) => a + b, 0);
        value[at] = children.reduce((sum, child, i) => sum + p[i]! * value[child]!, own ? 0 : missing);
      }
    }
    return mean(tree.roots.map((at) => value[at]!));
  });
  return mean(seats);
}

const root = join(import.meta.dirname, "..");
const file = join(root, "bench", "results", "self-play-text.jsonl");
const rows = keptRows<Row>(file).filter((row) => row.iterations === iterations);

for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
  if (rows.some((row) => row.seed === seed)) continue;
  const engine = localEngine({ size, threads: 1 });
  let warm: Raw = [];
  const checkpoints: Raw[] = [];
  let iteration = 0;
  const { counters } = await trainInMemory({
    environment,
    method: grpo.build({ tasks: 16, groupSize: 8, learningRate: 1e-3, minibatches: 4 }),
    engine,
    seed,
    iterations,
    prepare: async (policy) => {
      await trainInMemory({
        environment: { ...environment, expert: environment.flawed! },
        method: sft.build({ tasks: 16, learningRate: 2e-3, schedule: "constant" }),
        engine: { ...engine, create: async () => policy },
        seed,
        iterations: warmIterations,
      });
      warm = await rawOf(policy);
    },
    onIteration: async (_done, _state, policy) => {
      if ((++iteration * 3) % iterations === 0) checkpoints.push(await rawOf(policy));
    },
  });
  await engine.dispose();
  const row = { seed, iterations, games: counters.episodes ?? 0, warm, checkpoints };
  rows.push(row);
  appendFileSync(file, `${JSON.stringify(row)}\n`);
  progress(`seed ${seed}: wins ${won(row.checkpoints.at(-1)!, warm).toFixed(3)} against its warm start`);
}

const last = (row: Row): Raw => row.checkpoints.at(-1)!;
const random = rawBy(uniformStrategy(tree));
const best = rawBy(environment.reference());
/** Mean share against the final policies of the other seeds, which it never met. */
const againstOthers = (own: Raw, seed: number): number =>
  mean(rows.filter((other) => other.seed !== seed).map((other) => won(own, last(other))));

const share = (of: (row: Row) => number): string => {
  const { mean: middle, low, high } = meanInterval(rows.map(of));
  const percent = (x: number): string => (100 * Math.min(1, Math.max(0, x))).toFixed(1);
  return `${percent(middle)} % [${percent(low)}, ${percent(high)}]`;
};
const lines: readonly (readonly [string, (row: Row) => number, ((row: Row) => number)?])[] = [
  ["its warm start", (row) => won(last(row), row.warm), () => 0.5],
  ["itself after a third of training", (row) => won(last(row), row.checkpoints[0]!)],
  ["itself after two thirds", (row) => won(last(row), row.checkpoints[1]!)],
  [
    // each game between two of them is one's win and the other's loss, so that the trained have a half in the mean
    "the final policies of other seeds, never met; the trained: a half by symmetry",
    (row) => againstOthers(last(row), row.seed),
    (row) => againstOthers(row.warm, row.seed),
  ],
  ["random legal moves", (row) => won(last(row), random), (row) => won(row.warm, random)],
  ["perfect play", (row) => won(last(row), best), (row) => won(row.warm, best)],
];
const table = [
  "| opponent | games won by the trained | by its warm start |",
  "| --- | ---: | ---: |",
  ...lines.map(([name, own, before]) => `| ${name} | ${share(own)} | ${before ? share(before) : "–"} |`),
].join("\n");

const start = "<!-- measured by bench/self-play-text.ts -->";
const end = "<!-- end of what bench/self-play-text.ts measured -->";
const page = join(root, "docs", "self-play.md");
const said = `${rows.length} seeds, ${iterations} iterations, ${rows[0]!.games} games each:\n\n${table}`;
writeFileSync(
  page,
  readFileSync(page, "utf8").replace(new RegExp(`${start}[^]*${end}`), `${start}\n\n${said}\n\n${end}`),
);
