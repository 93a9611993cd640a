/** Fine-tuning on all demonstrations and corrections so far, with a fixed share of the newest. */
import { z } from "zod";
import { addStats, averageStats } from "../../../common/statistics/stats.ts";
import { pack } from "../../../common/tokens/pack.ts";
import { type Batch, type Row, rowCount } from "../../../core/batch.ts";
import type { Model, StepRule } from "../../../core/model.ts";
import type { Random } from "../../../core/random.ts";
import type { Update } from "../../../core/slots.ts";
import { isLogged } from "../../../core/trainingExamples.ts";
import type { ModelId, Stats, Unit } from "../../../core/types.ts";

/** Settings of {@link aggregated}. */
export interface AggregatedOptions {
  readonly step: StepRule;
  /**
   * Share of each batch that is drawn from the newest set, in [0, 1]; "proportional" gives it the share that it has of all rows.
   * Default 0.5.
   */
  readonly newest?: number | "proportional";
  /** Optimiser steps per iteration. Default 150. */
  readonly steps?: number;
  /** Rows in each. Default 32. */
  readonly rows?: number;
  /** Most earlier rows kept, the latest ones. Default 10 000. */
  readonly keep?: number;
  /** The trained model. Default "policy". */
  readonly model?: ModelId;
}

/**
 * Dataset aggregation (DAgger). The rows of this iteration are the newest set; every step uses rows drawn with replacement,
 *
 *     round(newest · rows) of the newest set, the others from all earlier sets
 *
 * or all rows from the only non-empty set. Then the newest set joins the earlier ones in the run's memory, except rows of
 * logged conversations, which can be replayed: a run keeps no copy of people's messages.
 * With a small share of the newest set, corrections are learnt slowly; with a large one, earlier rows are forgotten.
 * Papers: "Yell At Your Robot: Improving On-the-Fly from Language Corrections"; "A Reduction of Imitation Learning and
 * Structured Prediction to No-Regret Online Learning".
 */
export function aggregated(options: AggregatedOptions): Update {
  const {
    step,
    newest: share = 0.5,
    steps = 150,
    rows: size = 32,
    keep = 10_000,
    model: id = "policy",
  } = options;
  return async (ctx, played, objectives) => {
    const newest = rowsIn(played);
    const earlier = kept.parse(ctx.memory.get(memoryKey) ?? []);
    const memorable = newest.filter(({ task }) => !isLogged(task));
    ctx.memory.set(memoryKey, [...earlier, ...memorable].slice(-keep));
    if (newest.length + earlier.length === 0) return { steps: 0 };
    const part = share === "proportional" ? newest.length / (newest.length + earlier.length) : share;
    const fresh = earlier.length === 0 ? size : newest.length === 0 ? 0 : Math.round(part * size);
    const model = ctx.model(id);
    const sums = objectives.map((): Stats => ({}));
    const stepped: Stats = {};
    for (let i = 0; i < steps; i++) {
      const random = ctx.random.split("aggregated", i);
      const batch = packed([...drawn(newest, fresh, random), ...drawn(earlier, size - fresh, random)], model);
      for (const [o, objective] of objectives.entries()) {
        addStats(sums[o]!, await model.accumulate(batch, objective, await objective.prepare(ctx, batch)));
      }
      ctx.count("tokens.trained", batch.target_A.length);
      addStats(stepped, await model.step(step));
    }
    const out: Stats = { steps, newest: newest.length, earlier: earlier.length };
    for (const [name, value] of Object.entries(stepped)) out[name] = value / steps;
    objectives.forEach(({ name }, o) => {
      for (const [stat, value] of Object.entries(averageStats(sums[o]!)))
        out[`${name}.${stat}`] = stat === "loss" ? value / steps : value;
    });
    return out;
  };
}

const memoryKey = "aggregated rows";

/** A row in the run's memory: its tokens and the positions of its targets. */
const kept = z.array(
  z.object({ task: z.string(), tokens: z.array(z.number()), targets: z.array(z.number()) }),
);
type Kept = z.infer<typeof kept>[number];

/** Rows that have any weight. */
function rowsIn(batch: Batch): Kept[] {
  return Array.from({ length: rowCount(batch) }, (_, r): Kept[] => {
    const [from, to] = [batch.targetOffset[r]!, batch.targetOffset[r + 1]!];
    const start = batch.rowOffset[r]!;
    const targets = Array.from(batch.target_A.subarray(from, to), (p) => p - start);
    const weighs = targets.filter((_p, a) => batch.weight_A[from + a] !== 0);
    if (weighs.length === 0) return [];
    const tokens = [...batch.tokens_N.subarray(start, batch.rowOffset[r + 1]!)];
    return [{ task: batch.rows[r]!.task, tokens, targets: weighs }];
  }).flat();
}

const drawn = (rows: readonly Kept[], count: number, random: Random): Kept[] =>
  Array.from({ length: count }, () => rows[random.below(rows.length)]!);

function packed(rows: readonly Kept[], { id, version }: Model): Batch {
  const made = rows.map(({ task, tokens, targets }, r): Row => {
    const unknown = new Float32Array(targets.length).fill(Number.NaN);
    const info = {
      trajectory: `${r}`,
      task,
      role: "agent",
      model: id,
      version,
      unit: `${r}`,
      group: task,
      from: 0,
    };
    return {
      info: { ...info, origin: "demonstrated", context: "sampled" },
      tokens: Int32Array.from(tokens),
      targets: Int32Array.from(targets),
      turn: new Int32Array(targets.length),
      logp: unknown,
      behaviour: unknown,
      advantage: new Float32Array(targets.length).fill(1),
      weight: new Float32Array(targets.length).fill(1),
    };
  });
  const units = made.map(
    ({ info }): Unit => ({ id: info.unit, group: info.group, members: [info.trajectory] }),
  );
  return pack(made, units);
}
