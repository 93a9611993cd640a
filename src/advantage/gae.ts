import { turnOffsets } from "../common/tokens/tokenRanges.ts";
import { present } from "../core/errors.ts";
import type { Advantage, AnnotatedExperience } from "../core/slots.ts";
import type { Id, Trajectory } from "../core/types.ts";
import { type ChannelOptions, creditsByToken, moments, onTop } from "./returns.ts";

/** Settings of {@link gae}. */
export interface GaeOptions extends ChannelOptions {
  /** One step: an action token, or a whole turn. Default "token". */
  readonly level?: "token" | "turn";
  /** Discount factor γ per step, in [0, 1]. Default 1. */
  readonly discount?: number;
  /** GAE parameter λ in [0, 1]: 0 uses one-step critic targets, 1 uses observed returns. Default 0.95. */
  readonly lambda?: number;
  /** Note with a value before each action token. Default "value". */
  readonly values?: string;
  /** Column with the critic's targets for the objective. Default "return". */
  readonly target?: string;
  /** Value after a truncated episode: 0 ("nothing"), or the last value before the limit ("value"). Default "nothing". */
  readonly truncated?: "nothing" | "value";
}

/**
 * Generalised advantage estimation. Steps k are action tokens or turns; observations in between are no steps.
 *
 *     δ[k] = r[k] + discount · V[k + 1] − V[k]          V after the last step is 0
 *     A[k] = δ[k] + discount · λ · A[k + 1]
 *
 * At level "turn", V[k] is the value before the turn's first token and every token of the turn gets A[k]; turns without
 * tokens are no steps. A reward counts at the last step of the trajectory, turn or span that it is about.
 *
 * Columns: the critic's target A + V at the steps where a value was read, NaN at other tokens (all but the first of a
 * turn). A trajectory without any credit is left out.
 * Stats: explainedVariance = 1 − Var(target − V) / Var(target), where targets differ.
 * Papers: "High-Dimensional Continuous Control Using Generalized Advantage Estimation"; "Proximal Policy Optimization
 * Algorithms".
 */
export function gae(options: GaeOptions = {}): Advantage<null> {
  const { level = "token", discount = 1, lambda = 0.95, truncated = "nothing" } = options;
  const { values = "value", target = "return" } = options;
  return {
    name: "gae",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const paid = creditsByToken(annotated, options);
      const advantages = new Map<Id, Float32Array>();
      const targets = new Map<Id, Float32Array>();
      const [wanted, missed]: [number[], number[]] = [[], []];
      for (const t of memberTrajectories(annotated)) {
        const reward_A = paid.get(t.id);
        if (!reward_A || reward_A.length === 0) continue;
        const value_A = present(annotated.notes[values]?.get(t.id), "gae", `note "${values}" of ${t.id}`);
        const starts = stepStarts(t, level);
        const advantage_A = new Float32Array(reward_A.length);
        const target_A = new Float32Array(reward_A.length).fill(Number.NaN);
        let next = truncated === "value" && t.end.kind === "truncated" ? (value_A[starts.at(-1)!] ?? 0) : 0;
        let ahead = 0;
        for (let k = starts.length - 1; k >= 0; k--) {
          const from = starts[k]!;
          const to = starts[k + 1] ?? reward_A.length;
          let reward = 0;
          for (let a = from; a < to; a++) reward += reward_A[a]!;
          const value = value_A[from]!;
          ahead = reward + discount * next - value + discount * lambda * ahead;
          next = value;
          advantage_A.fill(ahead, from, to);
          target_A[from] = ahead + value;
          wanted.push(ahead + value);
          missed.push(ahead);
        }
        advantages.set(t.id, advantage_A);
        targets.set(t.id, target_A);
      }
      const { deviation } = moments(wanted);
      const explained = 1 - (moments(missed).deviation / deviation) ** 2;
      return {
        advantages: onTop(advantages, soFar),
        columns: { [target]: targets },
        next: null,
        stats: deviation > 0 ? { explainedVariance: explained } : {},
      };
    },
  };
}

/** The trajectories of the units, each once. */
function memberTrajectories({ trajectories, units }: AnnotatedExperience): readonly Trajectory[] {
  const members = new Set(units.flatMap((unit) => unit.members));
  return trajectories.filter((t) => members.has(t.id));
}

/** First action token of each step, ascending. */
function stepStarts(t: Trajectory, level: "token" | "turn"): readonly number[] {
  const offsets = turnOffsets(t);
  if (level === "token") return Array.from({ length: offsets.at(-1)! }, (_, a) => a);
  return [...offsets.subarray(0, -1)].filter((from, k) => offsets[k + 1]! > from);
}
