/** What a judge goes by beside what people prefer. */
import { clusteredLeastSquares } from "../common/statistics/clusteredLeastSquares.ts";
import { studentQuantile } from "../common/statistics/statistics.ts";
import { counted } from "../common/text/counted.ts";
import type { Interval } from "../core/interval.ts";

/** A property of one reply that should not decide. */
export interface ReplyFeature {
  readonly name: "length" | "format" | "authority";
  /** What one unit of it is, for people. */
  readonly unit: string;
  of(reply: string): number;
}

// blanks within a line alone: across lines, a reply of empty lines would take the square of its length
const markup = /^[ \t]*(?:[-*+]|\d+[.)])[ \t]|^#{1,6}[ \t]|\*\*[^*\n]+\*\*|^```|^[ \t]*\|.*\|[ \t]*$/m;
const authorities =
  /\b(?:according to|experts?|professors?|scientists?|researchers?|stud(?:y|ies) (?:show|shows|find|finds|by|from)|peer[- ]reviewed|Dr\.|Ph\.?D)|https?:\/\/|\[\d+\]/i;

/** The features that are read off the text of a reply. */
export const replyFeatures: readonly ReplyFeature[] = [
  { name: "length", unit: "a reply twice as long", of: (reply) => Math.log2(1 + reply.length) },
  {
    name: "format",
    unit: "a reply with headings, lists, tables, bold text or code blocks",
    of: (reply) => Number(markup.test(reply)),
  },
  {
    name: "authority",
    unit: "a reply that names experts, studies or sources",
    of: (reply) => Number(authorities.test(reply)),
  },
];

export type BiasName = "position" | ReplyFeature["name"] | "self-preference";

/** A column of numbers whose effect on the judge is asked for. */
export interface BiasColumn {
  readonly name: BiasName;
  readonly unit: string;
  /** One for each observation. */
  readonly values: readonly number[];
}

/**
 * A bias: by how much one unit of a feature moves the judge, the people's label being equal. A bias is found where its whole
 * interval lies on one side of 0. It is not measured, and has no interval, where the labels do not show it.
 */
export type Bias = { readonly name: BiasName; readonly unit: string } & (
  | { readonly verdict: "found" | "not found"; readonly effect: Interval }
  | { readonly verdict: "not measured"; readonly why: string }
);

export interface BiasData {
  /** The judge's choice or score, of each observation. */
  readonly judged: readonly number[];
  /** What is held equal: the people's label, and a column of ones where the judge's scale has no natural 0. */
  readonly given: readonly (readonly number[])[];
  readonly columns: readonly BiasColumn[];
  readonly clusters: readonly string[];
}

/** The first preference that depends on the order alone: for each pair P(the reply shown first is better) − ½, over both orders. */
export interface PositionData {
  readonly excess: readonly number[];
  readonly clusters: readonly string[];
}

/** Fewest clusters in which a feature must vary. */
const leastClusters = 10;

/** An effect below it is an error of rounding: a judge without any noise has intervals of no width. */
const rounding = 1e-9;

const positionUnit = "the reply that is shown first";

/** Chance that any of the biases is reported where there is none: of a hundred judges without any, one is accused. */
export const familyError = 0.01;

/**
 * All biases. Features are regressed together on the judge's choices beside the label, so that one that goes along with
 * another, or with what people prefer, is not taken for it. The intervals hold together: with k biases that can be measured,
 * each is at confidence 1 − 0.01 / k (Bonferroni), so that a judge without bias is cleared of all with 99 % probability.
 */
export function biasesOf(
  data: BiasData,
  position?: PositionData,
): { readonly biases: readonly Bias[]; readonly confidence: number } {
  const given = data.given.filter((column) => column.some((x) => x !== 0));
  const taken: BiasColumn[] = [];
  const why = new Map<BiasName, string>();
  const fitOf = (columns: readonly BiasColumn[]) => {
    const all = [...given, ...columns.map(({ values }) => values)];
    return clusteredLeastSquares(
      data.judged.map((_, i) => all.map((column) => column[i]!)),
      data.judged,
      data.clusters,
    );
  };
  for (const column of data.columns) {
    const varied = clustersThatVary(column.values, data);
    if (varied < leastClusters)
      why.set(column.name, `differs in ${counted(varied, "group")} of labels; ${leastClusters} are needed`);
    else if (fitOf([...taken, column])) taken.push(column);
    else why.set(column.name, "cannot be told from the label and the other features");
  }
  const shown = position && new Set(position.clusters).size >= leastClusters;
  const confidence = 1 - familyError / Math.max(1, taken.length + (shown ? 1 : 0));
  const fit = taken.length > 0 ? fitOf(taken) : undefined;
  const judge = (
    name: BiasName,
    unit: string,
    mean: number,
    error: number,
    clusters: number,
    n: number,
  ): Bias => {
    const half = studentQuantile((1 + confidence) / 2, clusters - 1) * error;
    const effect = { mean, low: mean - half, high: mean + half, n };
    return {
      name,
      unit,
      effect,
      verdict: effect.low > rounding || effect.high < -rounding ? "found" : "not found",
    };
  };
  const biases: Bias[] = data.columns.map(({ name, unit }) => {
    const at = taken.findIndex((column) => column.name === name);
    if (!fit || at < 0) return { name, unit, verdict: "not measured", why: why.get(name) ?? "no answers" };
    const k = given.length + at;
    return judge(name, unit, fit.coefficients[k]!, fit.errors[k]!, fit.clusters, data.judged.length);
  });
  if (!position) return { biases, confidence };
  const mean = shown
    ? clusteredLeastSquares(
        position.excess.map(() => [1]),
        position.excess,
        position.clusters,
      )
    : undefined;
  const first: Bias = mean
    ? judge(
        "position",
        positionUnit,
        mean.coefficients[0]!,
        mean.errors[0]!,
        mean.clusters,
        position.excess.length,
      )
    : {
        name: "position",
        unit: positionUnit,
        verdict: "not measured",
        why: `${counted(position.excess.length, "pair")} answered in both orders; ${leastClusters} groups of labels are needed`,
      };
  return { biases: [first, ...biases], confidence };
}

/** Clusters in which a column has values other than its most usual one. */
function clustersThatVary(values: readonly number[], { clusters }: BiasData): number {
  const counts = Map.groupBy(values, (x) => x);
  const usual = [...counts].reduce<readonly [number, number]>(
    (most, [x, same]) => (same.length > most[1] ? [x, same.length] : most),
    [0, 0],
  )[0];
  return new Set(clusters.filter((_, i) => values[i] !== usual)).size;
}
