/** Evaluates the live versions by their traffic and feedback. */
import { setImmediate as others } from "node:timers/promises";
import type { TrafficSplit } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import { type Estimate, estimateValue } from "../offpolicy/estimate.ts";
import { versionRatio } from "../offpolicy/sample.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { type Decision, sequentialDecision } from "./decision.ts";
import type { Guardrail } from "./guardrails.ts";
import { type LiveData, meanValue, type Reward, readLiveData, type UnitData } from "./liveData.ts";

/** Settings of the release controller, with its defaults. */
export interface EvaluationOptions {
  readonly production: TrafficStore;
  readonly reward?: Reward;
  readonly range: readonly [low: number, high: number] | undefined;
  readonly guardrails: readonly Guardrail[];
  readonly window: number;
  readonly settling?: number;
  readonly minimumEffect: number;
  readonly now: () => number;
}

/** Live data, and what is doubtful about it. */
export type DoubtedData = LiveData & { readonly doubts: readonly string[] };

export interface Evaluation {
  read(splits: readonly TrafficSplit[]): Promise<DoubtedData>;
  /**
   * Responses are evaluated as soon as they have settled; feedback, when its window has closed.
   * @param level error level of this comparison.
   */
  decide(data: DoubtedData, baseline: Id, candidate: Id, level: number): Promise<Decision>;
}

/** Units to judge before yielding to other work of the process: one or two milliseconds. */
const atOnce = 64;

export function evaluation(options: EvaluationOptions): Evaluation {
  const { production, guardrails, range, window, minimumEffect, now, reward = meanValue() } = options;
  /** Clients may send any number. An invalid one must not block the evaluation of the others, or hide harm. */
  const isOutside = (value: number): boolean =>
    range !== undefined && !(value >= range[0] && value <= range[1]);

  return {
    async read(splits) {
      let outside = 0;
      const data = await readLiveData(production, {
        splits,
        guardrails,
        reward: (signals) => {
          const value = reward(signals);
          if (value === undefined || !isOutside(value)) return value;
          outside++;
          return undefined;
        },
        window,
        settling: options.settling ?? Math.min(60_000, window),
        now: now(),
      });
      const doubt = `${outside} units have a reward outside of ${range?.[0]} to ${range?.[1]} and are left out of the means: state the range`;
      return { ...data, doubts: outside > 0 ? [doubt] : [] };
    },

    async decide({ settled, closed, doubts }, baseline, candidate, level) {
      const comparison = sequentialDecision({ guardrails, range, level, minimumEffect });
      const trainingArm = (version: Id) =>
        version === candidate ? "candidate" : version === baseline ? "baseline" : undefined;
      for (const [i, { version, measures }] of settled.entries()) {
        if (i % atOnce === 0) await others();
        const arm = trainingArm(version);
        if (arm) comparison.see({ arm, measures, early: true });
      }
      for (const [i, { version, measures, reward }] of closed.entries()) {
        if (i % atOnce === 0) await others();
        const arm = trainingArm(version);
        if (arm) comparison.see({ arm, measures, ...(reward === undefined ? {} : { reward }) });
      }
      const judgement = comparison.judgement();
      return { ...judgement, doubts: [...judgement.doubts, ...doubts] };
    },
  };
}

/**
 * Self-normalised over all units with a reward: the value if this version answered all traffic. The ends of its interval
 * are within the range of the rewards, as the value is.
 */
export function liveValue(
  closed: readonly UnitData[],
  version: Id,
  range: readonly [number, number] | undefined,
): Estimate | undefined {
  const samples = closed.flatMap(({ unit, version: answered, propensity, reward }) =>
    reward === undefined
      ? []
      : [{ cluster: unit, ratios: [versionRatio(version, answered, propensity)], rewards: [reward] }],
  );
  if (!samples.some((s) => s.ratios[0]! > 0)) return undefined;
  const estimate = estimateValue(samples, range ? { range } : {});
  const { interval } = estimate;
  const { low, high } = interval;
  // an end that is not finite stays: nothing is known of it
  if (!range || !Number.isFinite(low) || !Number.isFinite(high)) return estimate;
  return {
    ...estimate,
    interval: { ...interval, low: Math.max(range[0], low), high: Math.min(range[1], high) },
  };
}
