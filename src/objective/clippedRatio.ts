import { selectTokens } from "../common/tokens/pack.ts";
import { type Batch, rowCount } from "../core/batch.ts";
import type { Ctx } from "../core/context.ts";
import type { Objective } from "../core/objective.ts";
import { deadGroupsOf, type Normaliser, rowOfTarget, scales, type Totals, totalsOf } from "./normaliser.ts";

/** Settings of {@link clippedRatio}. */
export interface ClippedRatioOptions {
  /** Clip range of the ratio around 1, or separate ranges below and above. Default 0.2. */
  readonly clip?: number | { readonly low: number; readonly high: number };
  /** Column with a factor > 0 of both clip ranges; a ratio of several tokens uses that of its first. Default: 1. */
  readonly widths?: string;
  /** The tokens of one ratio: a token, a turn, or a row. Default "token". */
  readonly level?: "token" | "turn" | "sequence";
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
  /** Whether tokens of groups without any advantage count in the normaliser. Default "count". */
  readonly deadGroups?: "count" | "leaveOut";
}

/** Values that `prepare` computes once per minibatch. */
export interface ClippedRatioAux {
  readonly totals: Totals;
  readonly dead: ReadonlySet<string>;
}

/** Column with the old log-probabilities of the ratios: as sampled, or scored where those are unknown. */
export const oldColumn = "old.logp";

/**
 * Clipped importance ratios (PPO, GRPO).
 *
 *     ρ = exp(mean over its tokens of (logp − old)),   old: the sampling (behaviour) distribution
 *     loss = −Σ_a w[a]/N · min(ρ[a] · A[a], clamp(ρ[a], 1 − low, 1 + high) · A[a])
 *
 * At level "token" the mean is over one token; "turn" and "sequence" follow "Group Sequence Policy Optimization", a
 * sequence being one row. Rewritten rows have no old log-probabilities: they are scored before the first step. A token
 * that still has none is left out and counted.
 *
 * The paper of GRPO takes the mean over attempts of each attempt's mean over tokens (normaliser "rows"); the default here is
 * that of DAPO and of TRL's trainer. There is no second bound for ratios above 3 at negative advantages, which verl has
 * ("dual clip"). Otherwise losses and gradients equal those of TRL and verl (test/method/references.test.ts).
 *
 * Stats, as sums: tokens, clipFraction, ratio, kl (k3 from the old policy to this one), unknown.
 * Papers: "Proximal Policy Optimization Algorithms"; "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in
 * Open Language Models"; unequal bounds: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale";
 * widths: "A^2TGPO: Agentic Turn-Group Policy Optimization with Adaptive Turn-level Clipping".
 */
export function clippedRatio(options: ClippedRatioOptions = {}): Objective<ClippedRatioAux> {
  const { clip = 0.2, level = "token", normaliser = "tokens", deadGroups = "count" } = options;
  const { low, high } = typeof clip === "number" ? { low: clip, high: clip } : clip;
  const widths = options.widths;
  return {
    name: "clippedRatio",
    together: "row",
    wants: () => ({}),
    columns: async (ctx, batch) => ({ [oldColumn]: await oldLogp(ctx, batch) }),
    prepare: async (_ctx, batch) => {
      const dead = deadGroups === "leaveOut" ? deadGroupsOf(batch) : new Set<string>();
      return { dead, totals: totalsOf(batch, countsIn(batch, dead)) };
    },
    evaluate: ({ logp }, batch, { totals, dead }) => {
      const A = logp.length;
      const old_A = batch.columns[oldColumn] ?? batch.behaviour_A;
      const width_A = widths === undefined ? undefined : batch.columns[widths];
      const scale_A = scales(batch, normaliser, totals, countsIn(batch, dead));
      const cotangent_A = new Float32Array(A);
      let loss = 0;
      let tokens = 0;
      let clipped = 0;
      let ratios = 0;
      let kl = 0;
      let unknown = 0;
      for (const [from, to] of segments(batch, level)) {
        let sum = 0;
        let n = 0;
        for (let a = from; a < to; a++) {
          if (scale_A[a] === 0) continue;
          const difference = logp[a]! - old_A[a]!;
          if (Number.isNaN(difference)) unknown++;
          else {
            sum += difference;
            n++;
            kl += Math.exp(-difference) - 1 + difference;
          }
        }
        if (n === 0) continue;
        const ratio = Math.exp(sum / n);
        const width = width_A?.[from] || 1;
        let slope = 0;
        for (let a = from; a < to; a++) {
          if (scale_A[a] === 0 || Number.isNaN(logp[a]! - old_A[a]!)) continue;
          const advantage = batch.advantage_A[a]!;
          const held = Math.min(Math.max(ratio, 1 - width * low), 1 + width * high);
          const stops = held * advantage < ratio * advantage;
          loss -= scale_A[a]! * (stops ? held : ratio) * advantage;
          if (stops) clipped++;
          else slope -= scale_A[a]! * advantage * ratio;
          tokens++;
          ratios += ratio;
        }
        for (let a = from; a < to; a++) {
          if (scale_A[a] !== 0 && !Number.isNaN(logp[a]! - old_A[a]!)) cotangent_A[a] = slope / n;
        }
      }
      const stats = {
        loss,
        tokens,
        unknown,
        "clipFraction/tokens": clipped,
        "ratio/tokens": ratios,
        "kl/tokens": kl,
      };
      return { loss, cotangents: { logp: cotangent_A }, stats };
    },
  };
}

function countsIn(batch: Batch, dead: ReadonlySet<string>): (a: number) => boolean {
  if (dead.size === 0) return () => true;
  const row_A = rowOfTarget(batch);
  return (a) => !dead.has(batch.rows[row_A[a]!]!.group);
}

/** Half-open ranges of targets that share one ratio. */
function* segments(batch: Batch, level: "token" | "turn" | "sequence"): Generator<readonly [number, number]> {
  for (let r = 0; r < rowCount(batch); r++) {
    const end = batch.targetOffset[r + 1]!;
    let from = batch.targetOffset[r]!;
    while (from < end) {
      let to = level === "sequence" ? end : from + 1;
      if (level === "turn") while (to < end && batch.turn_A[to] === batch.turn_A[from]) to++;
      yield [from, to];
      from = to;
    }
  }
}

/** Behaviour log-probabilities; rows that lack some are scored by the current model that they train. */
export async function oldLogp(ctx: Ctx, batch: Batch): Promise<Float32Array> {
  const old_A = batch.behaviour_A.slice();
  const lacking = new Map<string, number[]>();
  batch.rows.forEach((row, r) => {
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
      if (!Number.isNaN(old_A[a]!)) continue;
      lacking.set(row.model, [...(lacking.get(row.model) ?? []), r]);
      return;
    }
  });
  for (const [model, rows] of lacking) {
    const { logp } = await ctx.model(model).score(selectTokens(batch, rows));
    let i = 0;
    for (const r of rows) {
      for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++, i++) {
        if (Number.isNaN(old_A[a]!)) old_A[a] = logp[i]!;
      }
    }
  }
  return old_A;
}
