import { addStats, averageStats } from "../common/statistics/stats.ts";
import { rebased, selectRows, togetherGroups, withColumns } from "../common/tokens/pack.ts";
import type { Batch } from "../core/batch.ts";
import type { Clock, Ctx } from "../core/context.ts";
import type { Model, StepRule } from "../core/model.ts";
import type { Objective } from "../core/objective.ts";
import { shuffled } from "../core/random.ts";
import type { Update } from "../core/slots.ts";
import type { ModelId, Stats } from "../core/types.ts";

/** Learning-rate schedule: a linear warm-up, then the given shape. */
export interface Schedule {
  /** Default "constant". The others fall to `final` at the end of the run. */
  readonly shape?: "constant" | "linear" | "cosine";
  /** Optimiser steps from 0 to the full step size. Default 0. */
  readonly warmUp?: number;
  /** Final share of the step size. Default 0. */
  readonly final?: number;
  /** Iterations until the end. Default: the run's planned iterations. */
  readonly iterations?: number;
}

/** Settings of {@link minibatches}. */
export interface MinibatchesOptions {
  readonly step: StepRule;
  /** Step sizes of auxiliary models, as multiples of the one in `step`. Default 1 for each. */
  readonly rates?: Readonly<Record<ModelId, number>>;
  /** Passes over the batch. Default 1. */
  readonly epochs?: number;
  /** Optimiser steps per pass; groups are distributed evenly and never split. Default 1. */
  readonly minibatches?: number;
  readonly schedule?: Schedule;
}

/**
 * The standard update: shuffles whole groups into minibatches; for each, it prepares and accumulates every objective, then steps.
 * An objective trains the model that it names; without a name, each row trains the model that acted in it.
 * @returns averages over all tokens, named `<objective>.<stat>`, and averages of the step stats.
 */
export function minibatches(options: MinibatchesOptions): Update {
  const { epochs = 1, minibatches: parts = 1, schedule = {} } = options;
  return async (ctx, whole, objectives) => {
    if (whole.rows.length === 0) return { steps: 0 };
    const batch = await addColumns(ctx, whole, objectives);
    const groups = togetherGroups(batch, objectives.some((o) => o.together === "batch") ? "batch" : "group");
    const count = Math.max(1, Math.min(parts, groups.length));
    const sums = objectives.map((objective) => ({ objective, stats: emptyStats() }));
    const stepped: Stats = {};
    const steps = epochs * count;
    for (let step = 0; step < steps; step++) {
      const epoch = Math.floor(step / count);
      const order = shuffled(groups, ctx.random.split("minibatches", epoch));
      const rows = order.filter((_, g) => g % count === step % count).flat();
      const part = selectRows(
        batch,
        rows.toSorted((a, b) => a - b),
      );
      const learning = new Map<ModelId, Model>();
      for (const { objective, stats } of sums) {
        for (const [id, piece] of byModel(part, objective)) {
          const model = ctx.model(id);
          learning.set(id, model);
          addStats(stats, await model.accumulate(piece, objective, await objective.prepare(ctx, piece)));
        }
      }
      ctx.count("tokens.trained", part.target_A.length);
      const factor = scheduled(schedule, ctx.clock, step, (step + 1) / steps);
      addStats(stepped, { learningRate: options.step.learningRate * factor });
      for (const [id, model] of learning) {
        const measured = Object.entries(
          await model.step(scaledRule(options.step, factor * (options.rates?.[id] ?? 1))),
        );
        addStats(
          stepped,
          Object.fromEntries(measured.map(([k, x]) => [learning.size > 1 ? `${id}.${k}` : k, x])),
        );
      }
    }
    const out: Stats = { steps };
    for (const [name, value] of Object.entries(stepped))
      out[name] = name.endsWith(".max") ? value : value / steps;
    for (const { objective, stats } of sums) {
      for (const [name, value] of Object.entries(averageStats(stats))) {
        out[`${objective.name}.${name}`] = name === "loss" ? value / steps : value;
      }
    }
    return out;
  };
}

const emptyStats = (): Stats => ({});

async function addColumns(ctx: Ctx, batch: Batch, objectives: readonly Objective[]): Promise<Batch> {
  let out = batch;
  for (const objective of objectives) {
    if (objective.columns) out = withColumns(out, await objective.columns(ctx, out));
  }
  return out;
}

/** The part of a minibatch that trains each model. */
function byModel(part: Batch, objective: Objective): (readonly [ModelId, Batch])[] {
  if (objective.model !== undefined) return [[objective.model, rebased(part)]];
  const rows = Map.groupBy(part.rows.keys(), (r) => part.rows[r]!.model);
  return [...rows].map(([id, own]) => [id, rebased(rows.size === 1 ? part : selectRows(part, own))]);
}

/** Share of the full step size at this step. @param done share of the iteration that is done after it. */
export function scheduled(schedule: Schedule, clock: Clock, taken: number, done: number): number {
  const { shape = "constant", warmUp = 0, final = 0 } = schedule;
  const rise = Math.min(1, (clock.step + taken + 1) / Math.max(1, warmUp));
  const total = schedule.iterations ?? clock.iterations;
  if (shape === "constant" || total === undefined) return rise;
  const progress = Math.min(1, (clock.iteration + done) / Math.max(1, total));
  const left = shape === "linear" ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2;
  return rise * (final + (1 - final) * left);
}

function scaledRule(rule: StepRule, factor: number): StepRule {
  if (factor === 1) return rule;
  const groups = Object.entries(rule.groups ?? {}).map(([name, g]) => [
    name,
    { learningRate: g.learningRate * factor },
  ]);
  return {
    ...rule,
    learningRate: rule.learningRate * factor,
    ...(rule.groups ? { groups: Object.fromEntries(groups) } : {}),
  };
}
