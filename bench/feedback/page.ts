/** The measured part of the report: a table for each environment, and the chart. */
import { mean, meanInterval, pairedInterval } from "../../src/common/statistics/statistics.ts";
import type { Interval } from "../../src/core/interval.ts";
import type { BenchResult } from "../../src/methods/benchResults.ts";
import { type ChosenRate, meanSuccess, overSeeds, successAt } from "./aggregate.ts";
import { chart, type Panel } from "./chart.ts";
import type { Contestant } from "./contestants.ts";
import type { Run } from "./run.ts";
import type { World } from "./worlds.ts";

/** A method in an environment: its runs at each accuracy, or why there are none. */
export interface Entry {
  readonly contestant: Contestant;
  readonly came: string | { readonly rate: ChosenRate; readonly runs: ReadonlyMap<number, readonly Run[]> };
}

export interface Measured {
  readonly world: World;
  readonly entries: readonly Entry[];
}

/** Parts of the budget at which success is shown. */
const shares = [0.25, 0.5, 1];

const percent = ({ mean: m, low, high }: Interval): string =>
  [m, low, high].every(Number.isFinite)
    ? `${(100 * m).toFixed(1)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`
    : (100 * m).toFixed(1);
const whole = (x: number): string => Math.round(x).toLocaleString("en");
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Mean over runs of one of their numbers. */
const average = (runs: readonly Run[], of: (run: Run) => number): number => mean(runs.map(of));

/** Runs of the first entry, which the others are compared with. */
const opponentOf = ({ entries }: Measured): readonly Run[] | undefined =>
  entries.flatMap(({ came }) => (typeof came === "string" ? [] : [...came.runs.values()]))[0];

/** Mean success over the budget, minus that of the opponent's runs, paired by seed. */
const lead = (runs: readonly Run[], against: readonly Run[]): Interval =>
  pairedInterval(
    runs.map((run) => meanSuccess(run)),
    against.map((run) => meanSuccess(run)),
  );

/** Every difference on the page as data. */
export const results = (measured: readonly Measured[]): readonly BenchResult[] =>
  measured.flatMap((of) => {
    const against = opponentOf(of);
    return of.entries.flatMap(({ contestant, came }) =>
      typeof came === "string" || against === undefined
        ? []
        : [...came.runs].flatMap(([accuracy, runs]): readonly BenchResult[] =>
            runs === against
              ? []
              : [
                  {
                    method: contestant.id,
                    opponent: of.entries[0]!.contestant.id,
                    bench: "feedback-budget",
                    page: "docs/comparisons/feedback-budget.md",
                    world: contestant.hears
                      ? `${of.world.name} with critiques true in ${100 * accuracy} %`
                      : of.world.name,
                    level: "shared",
                    metric: "mean success over an equal budget of feedback",
                    effect: lead(runs, against),
                    confidence: 0.95,
                    tuning: "both tuned over 8 step sizes on 2 other seeds",
                  },
                ],
          ),
    );
  });

/** Rows of one environment. Differences are paired by seed, against the first entry. */
export function table(of: Measured): string {
  const { world, entries } = of;
  const { budget } = world;
  const against = opponentOf(of);
  const head = [
    "method",
    "critiquer",
    ...shares.map((share) => `at ${whole(share * budget)}`),
    "mean over the budget",
    "against GRPO",
    "critiques",
    "step size",
  ];
  const body = entries.flatMap(({ contestant, came }) => {
    if (typeof came === "string") return [row([contestant.name, came, ...head.slice(2).map(() => "")])];
    return [...came.runs].map(([accuracy, runs]) => {
      const means = runs.map((run) => meanSuccess(run));
      const difference = runs === against || against === undefined ? "" : percent(lead(runs, against));
      const spent = average(runs, ({ critiques, outcomes }) => critiques / (critiques + outcomes));
      return row([
        contestant.name,
        contestant.hears ? `${100 * accuracy} %` : "none",
        ...shares.map((share) => percent(overSeeds(runs, share * budget))),
        percent(meanInterval(means)),
        difference,
        `${Math.round(100 * spent)} %`,
        `${whole(came.rate.learningRate)}${came.rate.edge ? " (edge of the grid)" : ""}`,
      ]);
    });
  });
  const firsts = entries.flatMap(({ contestant, came }) => {
    const runs = typeof came === "string" ? [] : [...came.runs.values()].flat();
    const first = runs.flatMap((run) => run.first ?? []);
    return first.length === 0
      ? []
      : [
          `\n${contestant.name} is measured by its second answer; its first one ends at ${percent(meanInterval(first))}.`,
        ];
  });
  return [row(head), row(head.map(() => "---")), ...body, ...firsts].join("\n");
}

/** Mean over runs at `parts` equal steps of the budget. */
function lineOf(runs: readonly Run[], budget: number, parts = 40): Panel["lines"][number]["points"] {
  return Array.from({ length: parts + 1 }, (_, i) => {
    const feedback = (budget * i) / parts;
    return [feedback, average(runs, (run) => successAt(run, feedback))] as const;
  });
}

/** Panels of all environments; what hears no critiquer is the same in each column. */
export function drawn(measured: readonly Measured[], accuracies: readonly number[]): string {
  return chart(
    measured.map(({ world, entries }) =>
      accuracies.map((accuracy) => ({
        title: `${world.name}, critiques true in ${100 * accuracy} %`,
        budget: world.budget,
        lines: entries.flatMap(({ contestant, came }) => {
          const runs = typeof came === "string" ? undefined : came.runs.get(contestant.hears ? accuracy : 1);
          return runs === undefined
            ? []
            : [{ name: contestant.name, dashed: !contestant.hears, points: lineOf(runs, world.budget) }];
        }),
      })),
    ),
  );
}

/** All tables, each under the environment's name. */
export const tables = (measured: readonly Measured[]): string =>
  measured.map((of) => `### ${of.world.name}\n\n${of.world.about}\n\n${table(of)}`).join("\n\n");

/**
 * The page with its measured part replaced; what is written by hand around it stays. @throws where it has no such part.
 * @param by the script that writes it, as the part's first line has it.
 */
export function withMeasured(page: string, part: string, by = "bench/feedback.ts"): string {
  const [from, to] = [`<!-- measured: written by ${by} -->`, "<!-- end of what is measured -->"];
  const begin = page.indexOf(from);
  const end = page.indexOf(to, begin);
  if (begin < 0 || end < begin) throw new Error(`the page lacks the lines ${from} and ${to}`);
  return `${page.slice(0, begin)}${from}\n\n${part}\n\n${page.slice(end)}`;
}
