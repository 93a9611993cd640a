// Exploitability over training in games, exactly: the last policy and the average of all, for several ways of self-play.
//
//     node bench/self-play.ts [--seeds 8] [--iterations 300]
//
// Step sizes were chosen by self-play alone on seed 1, magnets tried there at two strengths; the seeds measured are others. Rows go to
// bench/results/self-play.jsonl as they are done, and a second call goes on; it then writes the tables of docs/self-play.md and
// docs/self-play.svg.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { meanInterval } from "../src/common/statistics/statistics.ts";
import type { Method } from "../src/core/slots.ts";
import { type Game, gameEnvironment, kuhnPoker, rockPaperScissors } from "../src/env/index.ts";
import type { Settings } from "../src/method/settings.ts";
import { fictitiousSelfPlay } from "../src/methods/baseline/fictitious-self-play/method.ts";
import { leagueSelfPlay } from "../src/methods/baseline/league-self-play/method.ts";
import { magneticSelfPlay } from "../src/methods/baseline/magnetic-self-play/method.ts";
import { rloo } from "../src/methods/baseline/rloo/method.ts";
import { trainInMemory } from "../src/train/trainInMemory.ts";
import { plainAscent } from "../src/train/trainingArm.ts";
import { exploitabilityCurve, type Followed, moveTables } from "../src/worlds/arms/games.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";
import { type Line, panels } from "./self-play/draw.ts";

const { values } = parseArgs({
  options: { seeds: { type: "string", default: "8" }, iterations: { type: "string", default: "300" } },
});
const [seeds, iterations] = [Number(values.seeds), Number(values.iterations)];
const firstSeed = 101;
const looks = 30;

const games = [
  { game: kuhnPoker as Game, tasks: 12, groupSize: 8, learningRate: 3 },
  { game: rockPaperScissors() as Game, tasks: 8, groupSize: 32, learningRate: 0.3 },
];

const arms: readonly { readonly name: string; build(settings: Partial<Settings>): Method }[] = [
  { name: "self-play alone", build: (s) => rloo.build(s) },
  { name: "earlier selves, uniform", build: (s) => fictitiousSelfPlay.build(s) },
  { name: "earlier selves, prioritised", build: (s) => fictitiousSelfPlay.build(s, { draw: "prioritised" }) },
  { name: "league with an exploiter", build: (s) => leagueSelfPlay.build(s) },
  { name: "magnet 0.2", build: (s) => magneticSelfPlay.build(s, { magnet: 0.2 }) },
  { name: "magnet 1", build: (s) => magneticSelfPlay.build(s, { magnet: 1 }) },
];

interface Row {
  readonly game: string;
  readonly arm: string;
  readonly seed: number;
  readonly iterations: number;
  readonly games: number;
  readonly curve: readonly Followed[];
}

const rounded = (x: number): number => Math.round(1e5 * x) / 1e5;

const root = join(import.meta.dirname, "..");
const file = join(root, "bench", "results", "self-play.jsonl");
const rows = keptRows<Row>(file).filter((row) => row.iterations === iterations);

for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
  for (const { game, ...settings } of games) {
    for (const arm of arms) {
      if (rows.some((row) => row.game === game.name && row.arm === arm.name && row.seed === seed)) continue;
      const environment = gameEnvironment(game);
      const following = exploitabilityCurve(environment);
      let iteration = 0;
      const { counters } = await trainInMemory({
        environment,
        method: arm.build({ ...plainAscent, ...settings }),
        engine: moveTables(environment),
        seed,
        iterations,
        onIteration: async (_done, _state, policy) =>
          following.look(policy, ++iteration % Math.round(iterations / looks) === 0),
      });
      const row = {
        ...{ game: game.name, arm: arm.name, seed, iterations },
        games: counters.episodes ?? 0,
        curve: following.curve.map(({ iteration: at, last, average }) => ({
          iteration: at,
          last: rounded(last),
          average: rounded(average),
        })),
      };
      rows.push(row);
      appendFileSync(file, `${JSON.stringify(row)}\n`);
      const { last, average } = row.curve.at(-1)!;
      progress(
        `${game.name} · ${arm.name} · seed ${seed}: last ${last.toFixed(3)}, average ${average.toFixed(3)}`,
      );
    }
  }
}

const number = (x: number): string => x.toFixed(3);
const shares = [0.1, 0.25, 0.5, 1];

function rowsOf(game: string, arm: string): readonly Row[] {
  return rows.filter((row) => row.game === game && row.arm === arm);
}

/** Mean over seeds at a share of training, with a t interval. */
function at(of: readonly Row[], share: number, what: "last" | "average"): string {
  const look = Math.round(share * looks) - 1;
  const { mean, low, high } = meanInterval(of.map(({ curve }) => curve[look]![what]));
  return share < 1 ? number(mean) : `${number(mean)} [${number(Math.max(0, low))}, ${number(high)}]`;
}

/** Mean of the last policy over the last third of training: what a run that stops there may come to. */
function late(of: readonly Row[]): string {
  const means = of.map(({ curve }) => {
    const end = curve.slice(-Math.round(looks / 3));
    return end.reduce((sum, { last }) => sum + last, 0) / end.length;
  });
  const { mean, low, high } = meanInterval(means);
  return `${number(mean)} [${number(Math.max(0, low))}, ${number(high)}]`;
}

function tableOf(game: string): string {
  const head = [
    "how",
    ...shares.map((s) => `average, ${Math.round(s * iterations)}`),
    "last, end",
    "last, last third",
  ];
  const body = arms.map(({ name }) => {
    const of = rowsOf(game, name);
    return [name, ...shares.map((s) => at(of, s, "average")), at(of, 1, "last"), late(of)];
  });
  return [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...body]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

const start = "<!-- measured by bench/self-play.ts -->";
const end = "<!-- end of what bench/self-play.ts measured -->";
const page = join(root, "docs", "self-play.md");
const text = readFileSync(page, "utf8");
const played = (game: string): string => String(rowsOf(game, arms[0]!.name)[0]!.games);
const section = games
  .map(
    ({ game: { name } }) =>
      `\`${name}\`, ${iterations} iterations, ${played(name)} games:\n\n${tableOf(name)}`,
  )
  .join("\n\n");
writeFileSync(page, text.replace(new RegExp(`${start}[^]*${end}`), `${start}\n\n${section}\n\n${end}`));

const lines = (game: string, what: "last" | "average"): readonly Line[] =>
  arms.map(({ name }) => {
    const of = rowsOf(game, name);
    const means = Array.from(
      { length: looks },
      (_, look) => meanInterval(of.map(({ curve }) => curve[look]![what])).mean,
    );
    return { name, ys: means };
  });
writeFileSync(
  join(root, "docs", "self-play.svg"),
  panels(
    games.flatMap(({ game: { name } }) =>
      (["last", "average"] as const).map((what) => ({
        title: `${name}: ${what} policy`,
        lines: lines(name, what),
      })),
    ),
    iterations,
  ),
);
