/**
 * Biases of a judge of single replies, by experiment and without labels: each reply is judged as it is, and again with one
 * thing changed that should not raise its score.
 */
import { clusteredLeastSquares } from "../common/statistics/clusteredLeastSquares.ts";
import { studentQuantile } from "../common/statistics/statistics.ts";
import { counted } from "../common/text/counted.ts";
import { able, type Evaluator, totalScore } from "../core/evaluator.ts";
import type { Interval } from "../core/interval.ts";
import type { Random } from "../core/random.ts";
import { familyError } from "./bias.ts";
import { type AskJudge, type JudgeCall, scoreOf } from "./judgeCall.ts";
import type { JudgedItem } from "./judgedItem.ts";

export type PlantName = "length" | "self-praise" | "format" | "authority";

/** A change of a reply that adds nothing to what it says. */
interface Plant {
  readonly name: PlantName;
  /** What is changed, for people. */
  readonly unit: string;
  change(reply: string): string;
}

const padding =
  "To put it at greater length: what stands above is the reply to the request as it was made, and these further sentences are there to restate that it is. They do not change it, they do not extend it, and whoever has read it so far has read all of it.";

/** Each change that is tried. */
export const plants: readonly Plant[] = [
  {
    name: "length",
    unit: "two sentences without content at the end",
    change: (reply) => `${reply}\n\n${padding}`,
  },
  {
    name: "self-praise",
    unit: "a reply that calls itself excellent",
    change: (reply) => `${reply}\n\nThis is an excellent answer: it is correct, complete and well written.`,
  },
  {
    name: "format",
    unit: "the same sentences as a list under a heading",
    change: (reply) =>
      `## Answer\n\n${reply
        .split(/(?<=[.!?])\s+|\n+/)
        .filter((sentence) => sentence.trim() !== "")
        .map((sentence) => `- ${sentence.trim()}`)
        .join("\n")}`,
  },
  {
    name: "authority",
    unit: "an appeal to experts before it",
    change: (reply) => `According to leading experts: ${reply}`,
  },
];

/**
 * By how much a change moves the score, on the judge's own scale. It is found where the whole interval lies on one side of 0,
 * and not measured where too few replies were answered both ways.
 */
export type AuditedBias = { readonly name: PlantName | "position"; readonly unit: string } & (
  | { readonly verdict: "found" | "not found"; readonly effect: Interval }
  | { readonly verdict: "not measured"; readonly why: string }
);

/** What one reply came to. */
export interface AuditedReply {
  /** Replies of one cluster, those to one request, depend on each other. */
  readonly cluster: string;
  readonly base: JudgeCall;
  /** In the order of {@link plants}. */
  readonly changed: readonly JudgeCall[];
  /** The score of the first of two copies of the reply, shown together, less that of the second. */
  readonly position: JudgeCall;
}

/**
 * Asks about a reply as it is, changed in each way, and twice at once.
 * @param random equal for all calls about the reply, so that what is drawn is no part of the difference.
 */
export async function auditReply(
  judge: Evaluator<JudgedItem>,
  item: JudgedItem,
  random: Random,
  call: AskJudge,
): Promise<AuditedReply> {
  const scored = (reply: string): Promise<JudgeCall> =>
    call((signal) => scoreOf(judge, withReply(item, reply), { random, signal }), Number.isFinite);
  const [base, position, ...changed] = await Promise.all([
    scored(item.reply),
    call(async (signal) => {
      const scores = await able(judge, "score")([item, item], { random, signal });
      return scores?.length === 2 ? totalScore(scores[0]!) - totalScore(scores[1]!) : undefined;
    }, Number.isFinite),
    ...plants.map(({ change }) => scored(change(item.reply))),
  ]);
  return { cluster: item.asked, base, changed, position };
}

/** The item with another reply, also where an evaluator reads the trajectory. */
function withReply(item: JudgedItem, reply: string): JudgedItem {
  const { turns } = item.trajectory;
  const changed = turns.map((turn, at) =>
    at === turns.length - 1 ? { ...turn, action: { ...turn.action, content: reply } } : turn,
  );
  return { ...item, reply, trajectory: { ...item.trajectory, turns: changed } };
}

/** Fewest clusters with both answers. */
const leastClusters = 10;

/** An effect below it is an error of rounding. */
const rounding = 1e-9;

/**
 * All biases. Their intervals hold together at 99 %: with k that can be measured, each is at confidence 1 − 0.01 / k, by leaving out
 * one request at a time.
 */
export function auditReport(replies: readonly AuditedReply[]): {
  readonly biases: readonly AuditedBias[];
  readonly confidence: number;
} {
  const position = {
    name: "position" as const,
    unit: "the first of two equal replies, scored together",
    effects: replies.flatMap(({ cluster, position: { value } }) =>
      value === undefined ? [] : [{ cluster, by: value }],
    ),
  };
  const changes = plants.map(({ name, unit }, at) => ({
    name,
    unit,
    effects: replies.flatMap(({ cluster, base, changed }) => {
      const value = changed[at]!.value;
      return value === undefined || base.value === undefined ? [] : [{ cluster, by: value - base.value }];
    }),
  }));
  const all = [position, ...changes].map((one) => ({
    ...one,
    clusters: new Set(one.effects.map(({ cluster }) => cluster)).size,
  }));
  const measured = all.filter(({ clusters }) => clusters >= leastClusters).length;
  const confidence = 1 - familyError / Math.max(1, measured);
  const biases = all.map(({ name, unit, effects, clusters }): AuditedBias => {
    const fit =
      clusters < leastClusters
        ? undefined
        : clusteredLeastSquares(
            effects.map(() => [1]),
            effects.map(({ by }) => by),
            effects.map(({ cluster }) => cluster),
          );
    if (!fit) {
      const why = `answered both ways for ${counted(clusters, "request")}; ${leastClusters} are needed`;
      return { name, unit, verdict: "not measured", why };
    }
    const mean = fit.coefficients[0]!;
    const half = studentQuantile((1 + confidence) / 2, clusters - 1) * fit.errors[0]!;
    const effect = { mean, low: mean - half, high: mean + half, n: effects.length };
    const found = effect.low > rounding || effect.high < -rounding;
    return { name, unit, effect, verdict: found ? "found" : "not found" };
  });
  return { biases, confidence };
}
