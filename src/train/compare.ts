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
  /** The code that made it. */
  readonly code?: string;
}

/** One choice of a method's grid, on seeds that are not reported. */
export interface TriedChoice {
  readonly choice: Readonly<Record<string, OptionValue>>;
  /** Mean success over training, by which choices are compared. */
  readonly training: number;
}

/** How a method's settings were chosen. */
export interface TunedMethod {
  readonly chosen: Readonly<Record<string, OptionValue>>;
  /** Every choice that was tried; empty where there was one. */
  readonly tried: readonly TriedChoice[];
  /** Names of settings whose best value lies at an end of its list: a better one may lie beyond. */
  readonly atEdge: readonly string[];
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
  readonly chosen?: TunedMethod["chosen"];
  readonly tried?: TunedMethod["tried"];
  readonly atEdge?: TunedMethod["atEdge"];
  /** Every reported run. */
  readonly runs: readonly Pick<ComparedRun, "seed" | "heldOut" | "code">[];
}

export interface Comparison {
  readonly env: string;
  readonly engine: string;
  /** The pretrained model that every run begins from, in a few words. */
  readonly model?: string;
  readonly seeds: readonly number[];
  /** Tuning runs of each choice; 0 where nothing was tuned. */
  readonly tuningSeeds: number;
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

/** Means this near to 0 or 1 leave no room in which methods could differ. */
export const margin = 0.05;

/** @param runs of every method on every seed. The others are compared with the first method. */
export function compareRuns(
  about: Omit<Comparison, "methods">,
  runs: readonly ComparedRun[],
  tuned: ReadonlyMap<string, TunedMethod> = new Map(),
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
        ...tuned.get(method),
        runs: own.map(({ seed, heldOut, code }) => ({ seed, heldOut, ...(code !== undefined && { code }) })),
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

/**
 * What a reader has to know of the comparison, a sentence each: methods so near to the ceiling or the floor of a split that they cannot be
 * told apart there, and step sizes at the edge of their lists.
 */
export function warningsOf(c: {
  readonly methods: readonly {
    readonly method: string;
    readonly heldOut: Readonly<Record<string, Pick<Interval, "mean">>>;
    readonly chosen?: ComparedMethod["chosen"] | undefined;
    readonly atEdge?: ComparedMethod["atEdge"] | undefined;
  }[];
}): readonly string[] {
  const found: string[] = [];
  for (const split of Object.keys(c.methods[0]?.heldOut ?? {})) {
    const near = (is: (mean: number) => boolean): string =>
      c.methods
        .filter(({ heldOut }) => is(heldOut[split]!.mean))
        .map(({ method, heldOut }) => `${method} (${percent(heldOut[split]!.mean)} %)`)
        .join(", ");
    const [high, low] = [near((mean) => mean >= 1 - margin), near((mean) => mean <= margin)];
    if (high !== "")
      found.push(
        `${split}: near the ceiling: ${high}. Methods there cannot be told apart; compare them in a harder task or after fewer iterations.`,
      );
    if (low !== "")
      found.push(
        `${split}: near the floor: ${low}. Methods there cannot be told apart; compare them in an easier task or after more iterations.`,
      );
  }
  for (const { method, atEdge = [], chosen = {} } of c.methods)
    for (const name of atEdge)
      found.push(
        `${method}: the best ${name === "learningRate" ? "step size" : name}, ${chosen[name]}, lies at the edge of its list: a better one may lie beyond.`,
      );
  return found;
}

const markdown = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const heading = (cells: readonly string[]): string[] => [markdown(cells), markdown(cells.map(() => "---"))];

/** How the settings of each method were chosen. */
function tuningLines({ methods, tuningSeeds }: Comparison): readonly string[] {
  const tuned = methods.filter(({ tried = [] }) => tried.length > 0);
  if (tuned.length === 0) return ["", "Nothing was tuned: each method ran with one choice of settings."];
  const words = (choice: TriedChoice["choice"]): string =>
    Object.entries(choice)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ");
  return [
    "",
    "## How settings were chosen",
    "",
    `By the mean success over training on ${counted(tuningSeeds, "seed")} that ${tuningSeeds === 1 ? "is" : "are"} not reported, in %.`,
    "",
    ...heading(["method", "chosen", "tried"]),
    ...tuned.map(({ method, chosen = {}, tried = [] }) =>
      markdown([
        `\`${method}\``,
        words(chosen),
        tried.map(({ choice, training }) => `${words(choice)}: ${percent(training)}`).join("; "),
      ]),
    ),
  ];
}

/** Success of every run, by seed, and the code that made them. */
function runLines({ methods, seeds }: Comparison): readonly string[] {
  const codes = [...new Set(methods.flatMap(({ runs }) => runs.flatMap(({ code }) => code ?? [])))];
  const splits = Object.keys(methods[0]?.heldOut ?? {});
  return [
    "",
    "## Every run",
    "",
    `Success in % by seed; curves and tuning runs are in \`runs.jsonl\`.${codes.length > 0 ? ` Code: ${codes.join(", ")}.` : ""}`,
    "",
    ...heading(["method", "split", ...seeds.map((seed) => `seed ${seed}`)]),
    ...methods.flatMap(({ method, runs }) =>
      splits.map((split) =>
        markdown([method, split, ...runs.map(({ heldOut }) => percent(heldOut[split] ?? Number.NaN))]),
      ),
    ),
  ];
}

/** The comparison as a page. */
export function comparisonPage(c: Comparison): string {
  const [first] = c.methods;
  const lines = [
    `# ${c.methods.map((m) => m.method).join(", ")} on ${c.env}`,
    "",
    `${c.engine} engine, ${counted(c.seeds.length, "seed")} (${c.seeds.join(", ")}), ${c.episodes === undefined ? counted(c.iterations, "iteration") : `${counted(c.episodes, "episode")} of training, those of selection included`}, the same tasks and starting weights for each seed${c.model === undefined ? "" : `, those of ${c.model}`}. Success in %, mean over seeds with 95 % t intervals; differences are paired by seed, against ${first!.method}.`,
  ];
  for (const split of Object.keys(first!.heldOut)) {
    lines.push("", c.trainedShares?.[split] ? `## ${comparedOn(c, split)}` : `## Held out: ${split}`, "");
    lines.push(...heading(comparisonColumns), ...comparisonRows(c, split).map(markdown));
  }
  lines.push(
    "",
    "*training* is the mean success over all iterations: what learning fast and learning far both raise. *P(better)* is the probability that a run of the method beats a run of the first. Tokens are those sampled in training.",
  );
  const warnings = warningsOf(c);
  if (warnings.length > 0) lines.push("", "What to mind:", "", ...warnings.map((warning) => `- ${warning}`));
  lines.push(...tuningLines(c), ...runLines(c));
  return `${lines.join("\n")}\n`;
}
