/** The measured part of docs/comparisons/curricula.md, and its differences as data. */
import { rankCorrelation } from "../../src/common/statistics/rankCorrelation.ts";
import { mean, meanInterval, pairedInterval } from "../../src/common/statistics/statistics.ts";
import type { Interval } from "../../src/core/interval.ts";
import { type BenchResult, points } from "../../src/methods/benchResults.ts";
import { pieces } from "./pieces.ts";
import {
  type CurriculaRun,
  contestants,
  leftOut,
  nextRate,
  reportedSeeds,
  successOf,
  tuningSeeds,
} from "./run.ts";
import { type World, worlds } from "./worlds.ts";

/** Of each interval: with 19 comparisons in a world, about one in twenty worlds has one that chance alone would call different. */
const confidence = 0.997;

/** Uniform choice is as good where the whole interval lies within so much of no difference. */
export const margin = 0.05;

/** What a curriculum comes to beside a uniform choice of tasks. */
export const verdicts = ["ahead", "as good", "not told apart", "behind"] as const;
export type Verdict = (typeof verdicts)[number];

/** A difference that is shown counts, however small; one that is not is called small only if the interval says so. */
export function verdictOf({ low, high }: Pick<Interval, "low" | "high">): Verdict {
  if (low > 0) return "ahead";
  if (high < 0) return "behind";
  return low > -margin && high < margin ? "as good" : "not told apart";
}

/** A method in a world at its own step size. */
export interface Row {
  readonly method: string;
  readonly rate: number;
  /** Whether the best step size is the smallest or the largest there is. */
  readonly isAtEnd: boolean;
  /** In the order of the seeds. */
  readonly runs: readonly CurriculaRun[];
  /** Mean success over the budget, minus that of the uniform choice, paired by seed. */
  readonly lead: Interval;
  /** The same of success at the end. */
  readonly endLead: Interval;
}

const endOf = ({ curve }: CurriculaRun): number => curve.at(-1)!;

/** Every contestant of a world, the uniform choice first. @throws where runs are missing. */
export function rowsOf(runs: readonly CurriculaRun[], world: Pick<World, "name">): readonly Row[] {
  let against: { readonly success: readonly number[]; readonly ends: readonly number[] } | undefined;
  return contestants.map(({ id }) => {
    const own = runs.filter((run) => run.world === world.name && run.method === id);
    const tuning: readonly number[] = tuningSeeds;
    const next = nextRate(own.filter(({ seed }) => tuning.includes(seed)));
    if (next.kind !== "chosen") throw new Error(`${world.name}: ${id} lacks runs at ${next.rate}`);
    const reported = reportedSeeds.map((seed) => {
      const run = own.find((one) => one.seed === seed && one.rate === next.rate);
      if (!run) throw new Error(`${world.name}: ${id} lacks the run of seed ${seed} at ${next.rate}`);
      return run;
    });
    const success = reported.map(successOf);
    const ends = reported.map(endOf);
    against ??= { success, ends };
    return {
      ...{ method: id, ...next, runs: reported },
      lead: pairedInterval(success, against.success, confidence),
      endLead: pairedInterval(ends, against.ends, confidence),
    };
  });
}

const share = (xs: readonly (number | null)[]): string => {
  const found = xs.filter((x) => x !== null && !Number.isNaN(x)) as number[];
  return found.length === 0 ? "–" : (100 * mean(found)).toFixed(0);
};
const whole = (xs: readonly number[]): string => Math.round(mean(xs)).toLocaleString("en");
const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const head = [
  "curriculum",
  "success over the budget, %",
  "minus uniform, points",
  "beside uniform",
  "success at the end, %",
  "minus uniform at the end",
  "all wrong, %",
  "all right, %",
  "without advantage, %",
  "episodes",
  "step size",
];

function cellsOf({ method, rate, isAtEnd, runs, lead, endLead }: Row, isIdle: boolean): readonly string[] {
  const isUniform = method === "grpo";
  const { low, high, mean: success } = meanInterval(runs.map(successOf), confidence);
  return [
    isUniform ? "**uniform choice** (`grpo`)" : `\`${method}\`${isIdle ? " ○" : ""}`,
    `${(100 * success).toFixed(1)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`,
    isUniform ? "" : points(lead),
    isUniform ? "" : verdictOf(lead),
    share(runs.map(endOf)),
    isUniform ? "" : points(endLead),
    share(runs.map(({ wrong }) => wrong)),
    share(runs.map(({ right }) => right)),
    share(runs.map(({ idle }) => idle)),
    whole(runs.map(({ episodes }) => episodes)),
    `${rate.toLocaleString("en")}${isAtEnd ? ", the last there is" : ""}`,
  ];
}

/** The methods of each verdict in a sentence, those with nothing to act on apart. */
function sentence(rows: readonly Row[], idle: World["idle"]): string {
  const said = (of: readonly Row[]): string => of.map(({ method }) => `\`${method}\``).join(", ") || "none";
  const acting = rows.filter(({ method }) => idle[method] === undefined);
  const parts = verdicts.map(
    (verdict) => `${verdict}: ${said(acting.filter(({ lead }) => verdictOf(lead) === verdict))}`,
  );
  return `Beside uniform choice, of the ${acting.length} that have something to act on. ${parts.map((part) => `${part[0]!.toUpperCase()}${part.slice(1)}.`).join(" ")}`;
}

function partOf(world: World, runs: readonly CurriculaRun[]): string {
  const rows = rowsOf(runs, world);
  const [, ...others] = rows;
  const sorted = rows.toSorted((a, b) => b.lead.mean - a.lead.mean);
  const table = [line(head), line(head.map(() => "---"))].concat(
    sorted.map((row) => line(cellsOf(row, world.idle[row.method] !== undefined))),
  );
  const idle = Object.entries(world.idle).map(([id, why]) => `\`${id}\` (${why})`);
  const leads = others.map(({ lead }) => lead.mean);
  const related = (of: (run: CurriculaRun) => number): string =>
    rankCorrelation(
      leads,
      others.map((row) => mean(row.runs.map(of))),
    ).toFixed(2);
  return [
    `### ${world.name}`,
    world.about,
    table.join("\n"),
    sentence(others, world.idle),
    `○ Nothing to act on here: ${idle.join("; ")}. What else these methods change is measured.`,
    `Rank correlation over the ${others.length} curricula between the difference to uniform and the share of groups all wrong: ${related(({ wrong }) => wrong)}; all right: ${related(({ right }) => right)}; without advantage: ${related(({ idle }) => idle)}.`,
  ].join("\n\n");
}

/** A table for each world. @param runs all of them, the tuning runs as well. */
export function tablesOf(runs: readonly CurriculaRun[]): string {
  const without = Object.entries(leftOut).map(([id, why]) => `\`${id}\` ${why}`);
  return [...worlds.map((world) => partOf(world, runs)), `Not measured: ${without.join("; ")}.`].join("\n\n");
}

/** Every difference on the page as data. */
export const resultsOf = (runs: readonly CurriculaRun[]): readonly BenchResult[] =>
  worlds.flatMap((world) =>
    rowsOf(runs, world)
      .slice(1)
      // of the catalogue
      .filter(({ method }) => !pieces.some(({ id }) => id === method))
      .map(
        ({ method, lead: { mean: difference, low, high, n } }): BenchResult => ({
          method,
          opponent: "grpo",
          bench: "curricula",
          page: "docs/comparisons/curricula.md",
          world: `${world.name}${world.idle[method] === undefined ? "" : `, where it has nothing to act on: ${world.idle[method]}`}`,
          level: "shared",
          metric: "mean success over an equal budget of sampled tokens",
          effect: { mean: rounded(difference), low: rounded(low), high: rounded(high), n },
          confidence,
          tuning: "both tuned on 3 other seeds",
        }),
      ),
  );

const rounded = (x: number): number => Number(x.toFixed(6)) + 0;
