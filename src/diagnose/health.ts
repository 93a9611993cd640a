/** What is off with a run, in words, from its curves. */
import { mean } from "../core/statistics.ts";

/** A metric at rising iterations; NaN where it was not measured. */
export interface Curve {
  readonly iteration: readonly number[];
  readonly value: readonly number[];
}

export interface HealthNote {
  readonly kind:
    | "success"
    | "entropy"
    | "alike"
    | "truncated"
    | "failed"
    | "gap"
    | "drift"
    | "stale"
    | "reward"
    | "gradient";
  /** What is seen, with numbers, what it means, and what to try. */
  readonly says: string;
  readonly metric: string;
  /** Iterations that it was seen in, half-open. */
  readonly from: number;
  readonly until: number;
  /** Which episodes show it, where some do. */
  readonly episodes?: "failed" | "truncated" | "all";
}

/** Below this many measured iterations nothing is said: early curves wobble. */
const fewest = 8;

/**
 * Looks at the last tenth of each curve (at least 5 points) beside its first tenth. Thresholds are rules of thumb: they point
 * at what to look at and decide nothing.
 */
export function health(curves: Readonly<Record<string, Curve>>): HealthNote[] {
  const seen = (name: string): Seen | undefined => seenIn(curves[name]);
  const successes = seen("success");
  const success = successes?.late;
  const notes: HealthNote[] = [];
  const note = (
    kind: HealthNote["kind"],
    metric: string,
    { from, until }: Seen,
    says: string,
    episodes?: HealthNote["episodes"],
  ): void => {
    notes.push({ kind, metric, from, until, says, ...(episodes && { episodes }) });
  };

  if (successes && successes.late < successes.early - 0.15) {
    note(
      "success",
      "success",
      successes,
      `Success in practice fell from ${percent(successes.early)} to ${percent(successes.late)}. Unless tasks became harder, steps are too large: lower the learning rate.`,
      "all",
    );
  }

  const entropy = seen("entropy");
  if (entropy && entropy.late < 0.1 * entropy.early && (success === undefined || success < 0.9)) {
    const still = success === undefined ? "" : ` while success is ${percent(success)}`;
    note(
      "entropy",
      "entropy",
      entropy,
      `Entropy fell from ${digits(entropy.early)} to ${digits(entropy.late)} nats a token${still}: the policy repeats itself and has stopped trying. Lower the learning rate, or add an entropy bonus.`,
      "all",
    );
  }

  for (const [dead, all] of [
    ["deadGroups", "groups"],
    ["deadPools", "pools"],
  ] as const) {
    const alike = seenIn(ratio(curves[dead], curves[all]));
    if (!alike || alike.late <= 0.8) continue;
    const why =
      success !== undefined && success > 0.5
        ? "most tasks are solved every time: practise harder ones"
        : "most tasks fail every time: begin with easier ones, or with a warm start";
    note(
      "alike",
      dead,
      alike,
      `In ${percent(alike.late)} of the groups all attempts were paid alike and teach nothing; ${why}.`,
      "all",
    );
  }

  const truncated = seen("truncated");
  if (truncated && truncated.late > 0.1) {
    note(
      "truncated",
      "truncated",
      truncated,
      `${percent(truncated.late)} of the episodes were cut off at a limit. Raise the limit on turns or tokens, or reward brevity.`,
      "truncated",
    );
  }
  const failed = seen("failed");
  if (failed && failed.late > 0) {
    note(
      "failed",
      "failed",
      failed,
      `On average ${digits(failed.late)} episodes an iteration failed through no fault of the policy and were left out.`,
      "failed",
    );
  }
  const gap = seen("logpGap");
  if (gap && gap.most > 1e-3) {
    note(
      "gap",
      "logpGap",
      gap,
      `Sampling and training disagree by up to ${digits(gap.most)} nats a token: ratios are off. The two should run the same weights.`,
    );
  }
  for (const name of Object.keys(curves).filter((n) => /\.kl$|klToReference/.test(n))) {
    const drift = seen(name);
    if (!drift || drift.late <= 0.5) continue;
    note(
      "drift",
      name,
      drift,
      `The policy is ${digits(drift.late)} nats a token away from where it is compared with. Lower the learning rate, or strengthen the pull.`,
    );
  }

  const stale = seen("importance.truncated");
  if (stale && stale.late > 0.05) {
    note(
      "stale",
      "importance.truncated",
      stale,
      `${percent(stale.late)} of the tokens were at the cap of the importance weights: they are too old for the policy of now. Lower --staleness or the learning rate.`,
    );
  }

  const reward = seen("reward");
  if (reward && reward.spread === 0 && reward.measured >= 10 && (success === undefined || success < 1)) {
    note(
      "reward",
      "reward",
      reward,
      `The reward has been exactly ${digits(reward.late)} for ${reward.measured} iterations: nothing is being learnt from. Check that the reward can be reached, and is not a constant.`,
      "all",
    );
  }
  const gradient = seen("gradientNorm");
  if (gradient && gradient.most > 100 * gradient.middle && gradient.middle > 0) {
    note(
      "gradient",
      "gradientNorm",
      gradient,
      `The gradient's norm jumped to ${digits(gradient.most)}, ${digits(gradient.most / gradient.middle)} times its median. Clip it, or lower the learning rate.`,
    );
  }
  return notes;
}

interface Seen {
  readonly early: number;
  readonly late: number;
  /** Of the late part: the largest value, and largest less smallest. */
  readonly most: number;
  readonly spread: number;
  /** Median of the whole curve. */
  readonly middle: number;
  /** Points in the late part. */
  readonly measured: number;
  readonly from: number;
  readonly until: number;
}

function seenIn(curve: Curve | undefined): Seen | undefined {
  if (!curve) return undefined;
  const at = curve.value.map((_, i) => i).filter((i) => Number.isFinite(curve.value[i]));
  if (at.length < fewest) return undefined;
  const values = at.map((i) => curve.value[i]!);
  const part = Math.max(5, Math.ceil(values.length / 10));
  const late = values.slice(-part);
  return {
    early: mean(values.slice(0, part)),
    late: mean(late),
    most: Math.max(...late),
    spread: Math.max(...late) - Math.min(...late),
    middle: [...values].sort((a, b) => a - b)[values.length >> 1]!,
    measured: late.length,
    from: curve.iteration[at.at(-part)!]!,
    until: curve.iteration[at.at(-1)!]! + 1,
  };
}

/** Quotients at the iterations of both; NaN where there is nothing to divide by. */
function ratio(top: Curve | undefined, bottom: Curve | undefined): Curve | undefined {
  if (!top || !bottom) return undefined;
  const below = new Map(bottom.iteration.map((at, i) => [at, bottom.value[i]!]));
  const value = top.iteration.map((at, i) => top.value[i]! / (below.get(at) || Number.NaN));
  return { iteration: top.iteration, value };
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;
const digits = (x: number): string => String(Number(x.toPrecision(3)));
