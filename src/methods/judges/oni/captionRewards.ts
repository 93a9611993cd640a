import { z } from "zod";
import type { Ctx } from "../../../core/context.ts";
import { type Able, counted, totalScore } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Turn } from "../../../core/types.ts";
import { fitLogistic, oddsOf, withIntercept } from "../../../helper/logisticRegression.ts";

/** Settings of {@link captionRewards}. */
export interface CaptionRewardsOptions {
  /** Scores a caption: above ½, it tells of progress. */
  readonly annotator: Able<"score", string>;
  /** The caption of what an action led to, from the turn after it. Default: the last message that was seen there. */
  readonly captionOf?: (next: Turn) => string | undefined;
  /** "retrieval": the label of the caption itself. "classification": a linear model of its words, fitted to all labels so far. Default "retrieval". */
  readonly model?: "retrieval" | "classification";
  /** c, reward of a caption that tells of progress. */
  readonly coefficient: number;
  /** β ≥ 0: the n-th time in an episode a caption pays 1/n^β of it. */
  readonly decay: number;
  /** B, captions that the annotator labels between two iterations. */
  readonly labels: number;
}

/** What is known of captions, in the run's memory. */
interface Known {
  /** 1 for progress, else 0. */
  readonly labels: Readonly<Record<string, number>>;
  /** Without a label, the newest last. */
  readonly queue: readonly string[];
}

const known = z.object({ labels: z.record(z.string(), z.number()), queue: z.array(z.string()) });
const memoryKey = "captionRewards";
/** Captions that wait; older ones are dropped, and queued again when they are seen again. */
const longestQueue = 4096;

/**
 * Intrinsic rewards for captions of what an action led to, distilled from an annotator that works between the iterations:
 *
 *     r_t = c · r_int(m_t) / N(m_t)^β          N: how often the caption m_t has come in this episode, this time included
 *
 * Captions without a label pay 0 (retrieval), and so does everything before the first label. After an iteration's rewards, its new
 * captions join a queue, and the annotator labels the newest `labels` of it, so that labels follow the current policy. A caption that it
 * fails on has no label. Signals are about single turns, on channel "intrinsic"; the last turn of an episode leads to no caption.
 * Paper: "Online Intrinsic Rewards for Decision Making Agents from Large Language Model Feedback".
 */
export function captionRewards(options: CaptionRewardsOptions): Feedback {
  const { captionOf = lastSeen, model = "retrieval", coefficient, decay } = options;
  return async (ctx, { trajectories }) => {
    const { labels, queue } = known.parse(ctx.memory.get(memoryKey) ?? { labels: {}, queue: [] });
    const told = model === "retrieval" ? (caption: string) => labels[caption] ?? 0 : classifier(labels);
    const met: string[] = [];
    const signals: Signal[] = [];
    for (const { id, turns, end } of trajectories) {
      if (end.kind === "failed") continue;
      const times = new Map<string, number>();
      turns.slice(1).forEach((next, turn) => {
        const caption = captionOf(next);
        if (caption === undefined) return;
        const n = (times.get(caption) ?? 0) + 1;
        times.set(caption, n);
        if (n === 1) met.push(caption);
        const value = (coefficient * told(caption)) / n ** decay;
        if (value === 0) return;
        const about = [{ trajectory: id, turn }];
        signals.push({ kind: "reward", channel: "intrinsic", about, value, source: options.annotator.name });
      });
    }
    const waiting = withNewest(
      queue,
      met.filter((caption) => !Object.hasOwn(labels, caption)),
    );
    ctx.memory.set(memoryKey, await annotated({ labels, queue: waiting }, ctx, options));
    return signals;
  };
}

/** Moves what was just seen to the end, each once. */
const withNewest = (queue: readonly string[], seen: readonly string[]): readonly string[] => {
  const fresh = new Set(seen);
  return [...queue.filter((caption) => !fresh.has(caption)), ...fresh].slice(-longestQueue);
};

/** Labels the newest captions of the queue, and takes them from it. */
async function annotated(
  { labels, queue }: Known,
  ctx: Ctx,
  { annotator, labels: most }: CaptionRewardsOptions,
): Promise<{ labels: Record<string, number>; queue: string[] }> {
  const { score } = counted(annotator, ctx);
  const left = queue.slice(0, Math.max(0, queue.length - most));
  const asked = queue.slice(left.length);
  const said = await Promise.all(
    asked.map((caption) => score([caption], { random: ctx.random.split("annotator", caption) })),
  );
  const now = asked.flatMap((caption, i) => {
    const scores = said[i]?.[0];
    return scores ? [[caption, Number(totalScore(scores) > 0.5)] as const] : [];
  });
  return { labels: { ...labels, ...Object.fromEntries(now) }, queue: [...left] };
}

/** 1 where a logistic regression on words says more than ½; 0 for everything without labels. */
function classifier(labels: Known["labels"]): (caption: string) => number {
  const featuresOf = (caption: string) =>
    withIntercept(
      Object.fromEntries(caption.split(/\s+/).flatMap((word) => (word === "" ? [] : [[word, 1]]))),
    );
  const rows = Object.entries(labels).map(([caption, y]) => ({ x: featuresOf(caption), y, weight: 1 }));
  const theta = fitLogistic(rows, new Map());
  return (caption) => Number(oddsOf(theta, featuresOf(caption)) > 0);
}

const lastSeen = ({ prompt }: Turn): string | undefined => prompt.at(-1)?.content;
