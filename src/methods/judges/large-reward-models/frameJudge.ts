/** A judge of frames, fitted once to whole episodes: which of two frames is closer to the goal, how far one is, and whether it is the goal. */
import { z } from "zod";
import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { StatefulHelper } from "../../../core/context.ts";
import type { Random } from "../../../core/random.ts";
import { difference } from "../../../helper/bradleyTerry.ts";
import {
  fitLogistic,
  type LogisticOptions,
  type LogisticRow,
  type LogisticWeights,
  oddsOf,
  readWeights,
  withIntercept,
} from "../../../helper/logisticRegression.ts";
import type { Features } from "../../../helper/ridge.ts";

/** Texts of the frames of an episode in order, to fit to; or of two frames in order, to judge. */
export type Frames = readonly string[];

/** What the judge says of the later of two frames. */
export interface Judged {
  /** 1 where it is closer to the goal than the earlier one, −1 where it is further from it, 0 where that is not sure. */
  readonly contrast: number;
  /** How much further on it is: the share of the task that is done, in [0, 1], less that of the earlier one. */
  readonly gain: number;
  /** That share itself. */
  readonly progress: number;
  /** Whether the task is finished. */
  readonly completed: boolean;
}

/** Settings of {@link frameJudge}. */
export interface FrameJudgeOptions extends LogisticOptions {
  /** Pairs of frames drawn from each successful episode. Default 16. */
  readonly pairs?: number;
  /** Distance of a probability from ½ below which a contrast is 0. Default 0.1. */
  readonly unsure?: number;
}

/**
 * Three logistic models of the words of a frame and of their pairs, by place:
 *
 *     contrast     P(b closer than a) = σ(θ_c · (φ(b) − φ(a)))     pairs of frames of one successful episode, the later one is closer
 *     progress     p(o) = σ(θ_p · φ(o))                            labels: index of a frame / index of the last one, successful episodes
 *     completion   d(o) = 1 where σ(θ_d · φ(o)) > ½                last frames of successful episodes against all other frames
 *
 * `fit` takes episodes: y 1 for a successful one, 0 for a failed one, whose frames are negatives for completion alone. `predict` takes two
 * frames; before a fit it gives no contrast and no completion. Paper: "Large Reward Models: Generalizable Online Robot Reward Generation with
 * Vision-Language Models".
 */
export function frameJudge(
  options: FrameJudgeOptions = {},
): (random: Random) => StatefulHelper<Frames, number, Judged> {
  const { pairs = 16, unsure = 0.1, ...logistic } = options;
  return (random) => {
    let contrast: LogisticWeights = new Map();
    let progress: LogisticWeights = new Map();
    let completion: LogisticWeights = new Map();
    const fitted = (rows: readonly LogisticRow[]): LogisticWeights => fitLogistic(rows, new Map(), logistic);
    return {
      async fit(rows) {
        const episodes = rows.filter(({ x }) => x.length > 0);
        const good = episodes.filter(({ x, y }) => y > 0.5 && x.length > 1).map(({ x }) => x);
        const ordered = good.flatMap((frames, e) => pairsOf(frames, pairs, random.split("pairs", e)));
        contrast = fitted(
          ordered.map(([a, b]) => ({ x: difference(featuresOf(b), featuresOf(a)), y: 1, weight: 1 })),
        );
        progress = fitted(
          good.flatMap((frames) =>
            frames.map((frame, i) => ({ x: known(frame), y: i / (frames.length - 1), weight: 1 })),
          ),
        );
        completion = fitted(
          episodes.flatMap(({ x, y }) =>
            x.map((frame, i) => ({ x: known(frame), y: Number(y > 0.5 && i === x.length - 1), weight: 1 })),
          ),
        );
        return { episodes: episodes.length, successful: good.length };
      },
      predict: async (all) =>
        all.map(([before = "", now = ""]) => {
          const closer = sigmoid(oddsOf(contrast, difference(featuresOf(now), featuresOf(before)))) - 0.5;
          const [was, is] = [before, now].map((frame) => sigmoid(oddsOf(progress, known(frame)))) as [
            number,
            number,
          ];
          return {
            contrast: Math.abs(closer) < unsure ? 0 : Math.sign(closer),
            gain: is - was,
            progress: is,
            completed: completion.size > 0 && oddsOf(completion, known(now)) > 0,
          };
        }),
      save: () => [contrast, progress, completion].map((weights) => Object.fromEntries(weights)),
      load(state) {
        const parts = z.array(z.json()).length(3).safeParse(state).data ?? [null, null, null];
        [contrast, progress, completion] = parts.map((part) => readWeights(part, "frameJudge helper")) as [
          LogisticWeights,
          LogisticWeights,
          LogisticWeights,
        ];
      },
    };
  };
}

/** Pairs of different frames, the earlier one first. */
function pairsOf(frames: Frames, count: number, random: Random): (readonly [string, string])[] {
  return Array.from({ length: count }, () => {
    const first = random.below(frames.length - 1);
    const second = first + 1 + random.below(frames.length - 1 - first);
    return [frames[first]!, frames[second]!] as const;
  });
}

/** Each word with its place, and each pair of such words. */
function featuresOf(frame: string): Features {
  const words = frame.split(/\s+/).map((word, place) => `${place}:${word}`);
  return Object.fromEntries([
    ...words.map((word) => [word, 1] as const),
    ...words.flatMap((word, i) => words.slice(i + 1).map((other) => [`${word} ${other}`, 1] as const)),
  ]);
}

const known = (frame: string): Features => withIntercept(featuresOf(frame));
