/** Compares methods in the same environment with the same seeds and budget, paired by seed. */
import {
  mean,
  meanInterval,
  pairedInterval,
  probabilityOfImprovement,
} from "../common/statistics/statistics.ts";
import { counted } from "../common/text/counted.ts";
import type { Interval } from "../core/interval.ts";
import type { OptionValue } from "../core/slots.ts";
import { splitName } from "./splits.ts";

/** Result of one run. */
export interface ComparedRun {
  readonly method: string;
  readonly seed: number;
  /** Success at the end, by split (held-out ones, where there are any), actions sampled. */
  readonly heldOut: Readonly<Record<string, number>>;
  /** Success in training, by iteration. */
  readonly curve: readonly number[];
  readonly episodes: number;
  readonly tokens: number;
  readonly seconds: number;
}

/** A method against the first one. */
export interface Against {
  /** Paired difference of held-out success, 95 % t interval. */
  readonly difference: Interval;
  /** P(a run of it beats a run of the first), ties counting half. */
  readonly improvement: number;
}

export interface ComparedMethod {
  readonly method: string;
  /** By split, 95 % t interval over seeds. */
  readonly heldOut: Readonly<Record<string, Interval>>;
  /** Mean success over training. */
  readonly training: Interval;
  /** Mean over seeds, by iteration. */
  readonly curve: readonly number[];
  readonly episodes: number;
  readonly tokens: number;
  readonly seconds: number;
  /** By split; absent for the first. */
  readonly against?: Readonly<Record<string, Against>>;
  /** The settings that were chosen for it, on seeds that are not reported. */
  readonly chosen?: Readonly<Record<string, OptionValue>>;
}

export interface Comparison {
  readonly env: string;
  readonly engine: string;
  readonly seeds: readonly number[];
  readonly iterations: number;
  /** The episode limit, if that ended training instead of iterations. */
  readonly episodes?: number;
  /** Options and settings that were set for every method that has them. */
  readonly set?: Readonly<Record<string, OptionValue>>;
  /** By split, the share of its tasks that are trained on as well, where there are any. */
  readonly trainedShares?: Readonly<Record<string, number>>;
  /** Ids of methods that leave the weights as they are. */
  readonly weightFree?: readonly string[];
  readonly methods: readonly ComparedMethod[];
}

/** @param runs of every method on every seed. The others are compared with the first method. */
export function compareRuns(
  about: Omit<Comparison, "methods">,
  runs: readonly ComparedRun[],
  chosen: ReadonlyMap<string, Readonly<Record<string, OptionValue>>> = new Map(),
): Comparison {
  const ids = [...new Set(runs.map((r) => r.method))];
  const of = (method: string): readonly ComparedRun[] =>
    about.seeds.flatMap((seed) => runs.find((r) => r.method === method && r.seed === seed) ?? []);
  const first = of(ids[0]!);
  const splits = Object.keys(first[0]?.heldOut ?? {});
  const values = (some: readonly ComparedRun[], split: string): number[] =>
    some.map((r) => r.heldOut[split] ?? Number.NaN);
  const bySplit = <T>(make: (split: string) => T): Record<string, T> =>
    Object.fromEntries(splits.map((split) => [split, make(split)]));
  return {
    ...about,
    methods: ids.map((method): ComparedMethod => {
      const own = of(method);
      const length = Math.max(...own.map((r) => r.curve.length));
      const settings = chosen.get(method);
      return {
        method,
        heldOut: bySplit((split) => meanInterval(values(own, split))),
        training: meanInterval(own.map((r) => mean(r.curve))),
        curve: Array.from({ length }, (_, i) => mean(own.flatMap((r) => r.curve[i] ?? []))),
        episodes: mean(own.map((r) => r.episodes)),
        tokens: mean(own.map((r) => r.tokens)),
        seconds: mean(own.map((r) => r.seconds)),
        ...(method === ids[0]
          ? {}
          : {
              against: bySplit((split) => ({
                difference: pairedInterval(values(own, split), values(first, split)),
                improvement: probabilityOfImprovement(values(own, split), values(first, split)),
              })),
            }),
        ...(settings ? { chosen: settings } : {}),
      };
    }),
  };
}

const percent = (x: number): string => (100 * x).toFixed(1);
/** @param least lowest possible value (the highest is 1): an interval from few seeds may exceed the range. */
function interval(x: Interval, least: 0 | -1): string {
  if (!Number.isFinite(x.low)) return percent(x.mean);
  return `${percent(x.mean)} [${percent(Math.max(least, x.low))}, ${percent(Math.min(1, x.high))}]`;
}

const bars = "▁▂▃▄▅▆▇█";

/** A curve of values from 0 to 1, as a line of block characters. */
function blocks(curve: readonly number[], width = 24): string {
  const n = Math.min(width, curve.length);
  return Array.from({ length: n }, (_, i) => {
    const part = curve.slice(Math.floor((i * curve.length) / n), Math.floor(((i + 1) * curve.length) / n));
    const share = Math.min(1, Math.max(0, mean(part)));
    return bars[Math.min(bars.length - 1, Math.floor(share * bars.length))]!;
  }).join("");
}

/** The report's line on each method and split. */
export const comparisonColumns = [
  ...["method", "success", "difference", "P(better)", "training", "curve", "episodes", "tokens", "seconds"],
];

/** A row for each method. */
export const comparisonRows = (c: Comparison, split: string): string[][] =>
  c.methods.map((m) => {
    const against = m.against?.[split];
    const chosen = Object.entries(m.chosen ?? {}).map(([k, v]) => `${k} ${v}`);
    const more = `${c.weightFree?.includes(m.method) ? ", no weights" : ""}${chosen.length > 0 ? ` (${chosen.join(", ")})` : ""}`;
    return [
      `\`${m.method}\`${more}`,
      interval(m.heldOut[split]!, 0),
      against ? interval(against.difference, -1) : "",
      against ? against.improvement.toFixed(2) : "",
      interval(m.training, 0),
      blocks(m.curve),
      Math.round(m.episodes).toLocaleString("en"),
      Math.round(m.tokens).toLocaleString("en"),
      m.seconds.toFixed(0),
    ];
  });

/** A split by its name, and how much of it is trained on. */
export const comparedOn = (
  { trainedShares = {} }: Pick<Comparison, "trainedShares">,
  split: string,
): string => splitName(split, trainedShares[split] ?? 0);

/** The comparison as a page. */
export function comparisonPage(c: Comparison): string {
  const [first] = c.methods;
  const lines = [
    `# ${c.methods.map((m) => m.method).join(", ")} on ${c.env}`,
    "",
    `${c.engine} engine, ${counted(c.seeds.length, "seed")} (${c.seeds.join(", ")}), ${c.episodes === undefined ? counted(c.iterations, "iteration") : `${counted(c.episodes, "episode")} of training, those of selection included`}, the same tasks and starting weights for each seed. Success in %, mean over seeds with 95 % t intervals; differences are paired by seed, against ${first!.method}.`,
  ];
  for (const split of Object.keys(first!.heldOut)) {
    lines.push("", c.trainedShares?.[split] ? `## ${comparedOn(c, split)}` : `## Held out: ${split}`, "");
    const markdown = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
    lines.push(markdown(comparisonColumns), markdown(comparisonColumns.map(() => "---")));
    lines.push(...comparisonRows(c, split).map(markdown));
  }
  lines.push(
    "",
    "*training* is the mean success over all iterations: what learning fast and learning far both raise. *P(better)* is the probability that a run of the method beats a run of the first. Tokens are those sampled in training.",
  );
  return `${lines.join("\n")}\n`;
}
