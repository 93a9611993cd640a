import type { Feedback } from "../../../core/slots.ts";
import type { Task, Trajectory } from "../../../core/types.ts";

/** Settings of {@link qualityCurve}. */
export interface QualityCurveOptions extends CurveWeights {
  /** Name of the reward that scores the state after a turn, in [0, 1]. Default "quality". */
  readonly reward?: string;
  /** Quality of the state before the first turn. Default: `quality` of the task's metadata; none without it. */
  readonly first?: (task: Task) => number | undefined;
  /** Name of the reward that marks an invalid action (> 0): the trajectory gets 0. Default "invalid". */
  readonly invalid?: string;
  /** Turn limit of an episode. Default 12. */
  readonly most?: number;
  /** Default "outcome". */
  readonly channel?: string;
}

/** Weights of the parts of a {@link curveReward}. */
export interface CurveWeights {
  /** λ_r. Default 0.3. */
  readonly retention?: number;
  /** λ_e. Default 0.2. */
  readonly efficiency?: number;
  /** c: cost of a turn up to the peak, relative to one after it, in [0, 1]. Default 0.25. */
  readonly climb?: number;
  /** Peaks below this get no efficiency reward, so that giving up early is not rewarded. Default 0. */
  readonly least?: number;
}

/**
 * The reward of a curve of qualities q_0, q_1, …, q_T in [0, 1], q_0 before the first turn; T turns of at most `most`.
 *
 *     p = the first best turn,   P = q_p                                           peak
 *     Ret = 1 − (P − q_T) / P                              (0 where P = 0)        retention
 *     E   = 1 − (T − p) / most − climb · p / most      (0 where P < least)    efficiency
 *     R   = P + λ_r · P · Ret + λ_e · P · E
 *
 * Both additions are multiplied by the peak. An empty curve gets 0.
 * Paper: "Generation Navigator: A State-Aware Agentic Framework for Image Generation".
 */
export function curveReward(curve: readonly number[], most: number, weights: CurveWeights = {}): number {
  const { retention = 0.3, efficiency = 0.2, climb = 0.25, least = 0 } = weights;
  const peak = curve.reduce((a, b) => Math.max(a, b), 0);
  if (peak === 0) return 0;
  const at = curve.indexOf(peak);
  const turns = curve.length - 1;
  const kept = 1 - (peak - curve[turns]!) / peak;
  const thrift = peak < least ? 0 : 1 - (turns - at) / most - (climb * at) / most;
  return peak * (1 + retention * kept + efficiency * thrift);
}

/**
 * One signal per trajectory: the {@link curveReward} of its turns' quality scores. Turns without a score (a stop) are not
 * part of the curve; a trajectory without any score, or that failed, gets no signal.
 */
export function qualityCurve(options: QualityCurveOptions = {}): Feedback {
  const {
    reward = "quality",
    first = startOf,
    invalid = "invalid",
    most = 12,
    channel = "outcome",
  } = options;
  const curveOf = (t: Trajectory, task: Task): number[] => {
    const scores = [first(task), ...t.turns.map((turn) => turn.rewards[reward])];
    return scores.flatMap((q) => (q === undefined ? [] : [q]));
  };
  return async (ctx, { trajectories }) =>
    trajectories.flatMap((t) => {
      const curve = curveOf(t, ctx.task(t.task));
      if (t.end.kind === "failed" || curve.length === 0) return [];
      const broken = t.turns.some((turn) => (turn.rewards[invalid] ?? 0) > 0);
      const value = broken ? 0 : curveReward(curve, most, options);
      return [{ kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "environment" }];
    });
}

function startOf({ metadata: { quality } }: Task): number | undefined {
  return typeof quality === "number" ? quality : undefined;
}
