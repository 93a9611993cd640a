/** Watches what a run is paid for: audits of some attempts, the distance to its beginning, and whether reward models disagree. */
import { mean, standardDeviation } from "../common/statistics/statistics.ts";
import { batchOf } from "../common/tokens/pack.ts";
import type { Ctx } from "../core/context.ts";
import { evaluatorIn, totalScore } from "../core/evaluator.ts";
import { type Finding, findingLine } from "../core/finding.ts";
import { type Random, shuffled } from "../core/random.ts";
import { type Signal, signalValue } from "../core/signal.ts";
import type { AnnotatedExperience, Method } from "../core/slots.ts";
import {
  actionTokens,
  type Id,
  paid as paidByEnvironment,
  type Stats,
  type Trajectory,
} from "../core/types.ts";
import { disagreement, freshWatch, isBestAudited, type WatchAlarm, watched } from "../diagnose/watch.ts";
import type { Assembly } from "./assembly.ts";
import type { Run } from "./running.ts";
import type { WatchOptions } from "./watchOptions.ts";

/** Name of the frozen copy of the policy at the beginning. */
const beginning = "watch: beginning";

/** The method, with a frozen copy of the policy at the beginning where its distance is watched. */
export const watchedMethod = (method: Method, watch: WatchOptions | undefined): Method =>
  watch?.distance === undefined ? method : { ...method, frozen: { ...method.frozen, [beginning]: {} } };

/** A run without a watch measures nothing. */
export function watchOf({ settings, state, policy, records, report }: Assembly): Run["watch"] {
  const { watch } = settings;
  if (!watch) return async () => ({});
  const { models = [], audits = 8, every, error, distance } = watch;
  const { environment, evaluation } = settings;
  // a run that is validated keeps the weights of its best validation
  const validates = evaluation.every > 0 && environment.splits.includes("validation");
  const rule = { ...(every !== undefined && { every }), ...(error !== undefined && { error }) };
  return async (ctx, { trajectories, units, signals }, diversity) => {
    const random = ctx.random.split("watch");
    const played = trajectories.filter((t) => t.end.kind !== "failed" && t.origin !== "demonstrated");
    const paidBy = paidIn(signals);
    const paid = [...paidBy.values()];
    const looked = drawn(played, audits, random);
    const scores = await audit(ctx, watch.audit, looked, random);
    const audited = known(scores);
    // a score that happens to lie from 0 to 1 is no label
    const areLabels = paid.every((x) => x === 0 || x === 1);
    const noise = areLabels ? looked.flatMap(({ id }, i) => wrongly(paidBy.get(id), scores[i])) : [];
    const stats: Stats = {
      ...(paid.length > 0 && { "watch.paid": mean(paid) }),
      ...(audited.length > 0 && { "watch.audit": mean(audited) }),
      "watch.audited": audited.length,
      ...(noise.length > 0 && { "watch.noise": mean(noise) }),
    };
    const before = state.watch ?? freshWatch;
    // the iteration that is looked at is not counted as done yet
    const iteration = state.iteration + 1;
    const seen = { iteration, paid, audits: audited, noise, ...(diversity !== undefined && { diversity }) };
    let now = { ...before, ...watched(before, seen, rule) };
    if (models.length > 1 && played.length > 0) {
      const all = await Promise.all(models.map((model) => audit(ctx, model, played, random)));
      const scores = all.map(known);
      const complete = scores.every(({ length }) => length === played.length);
      const at = now.models ?? (complete ? scores.map(centreOf) : null);
      now = { ...now, models: at };
      if (complete && at) stats["watch.disagreement"] = disagreement(scores, at);
    }
    if (distance !== undefined) {
      const nats = await distanceOf(ctx, played, units);
      stats["watch.distance"] = nats;
      if (!now.alarm && nats > distance) now = { ...now, alarm: tooFar(now, iteration, nats) };
    }
    if (!validates && !now.alarm && isBestAudited(now)) {
      now = { ...now, best: iteration };
      await records.saveBest(policy);
    }
    if (now.alarm && !before.alarm) {
      const finding = findingOf(now.alarm, watch);
      report({ type: "warning", message: findingLine(finding), ...finding });
    }
    state.watch = now;
    const collapsed = now.alarm?.why === "collapse";
    return { ...stats, "watch.alarm": Number(now.alarm !== null), "watch.collapse": Number(collapsed) };
  };
}

/** Sum of the rewards and scores of each trajectory that has any. */
export function paidIn(signals: readonly Signal[]): ReadonlyMap<Id, number> {
  const paid = new Map<Id, number>();
  for (const signal of signals) {
    const [about, ...others] = signal.about;
    const value = signal.kind === "reward" || signal.kind === "score" ? signalValue(signal) : undefined;
    if (value === undefined || !about || others.length > 0) continue;
    paid.set(about.trajectory, (paid.get(about.trajectory) ?? 0) + value);
  }
  return paid;
}

/** Attempts at random, one of each task before a second one of any. */
export function drawn(played: readonly Trajectory[], count: number, random: Random): readonly Trajectory[] {
  const groups = [...Map.groupBy(shuffled(played, random.split("drawn")), ({ task }) => task).values()];
  const rounds = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, r) => groups.flatMap((own) => own.slice(r, r + 1)))
    .flat()
    .slice(0, count);
}

/** 1 where a label, 0 or 1, and an audit in 0…1 are on different sides of ½, else 0. Nothing where one is unknown or the audit on another scale. */
function wrongly(label: number | undefined, audit: number | undefined): readonly number[] {
  if (label === undefined || audit === undefined || audit < 0 || audit > 1) return [];
  return [Number(label > 0.5 !== audit > 0.5)];
}

const known = (scores: readonly (number | undefined)[]): number[] => scores.flatMap((score) => score ?? []);

/** The scores of attempts, in order; undefined for those that failed, which are counted. */
async function audit(
  ctx: Ctx,
  by: WatchOptions["audit"],
  attempts: readonly Trajectory[],
  random: Random,
): Promise<(number | undefined)[]> {
  if (by === "environment") return attempts.map(paidByEnvironment);
  const evaluator = evaluatorIn(ctx, by);
  const scores = await Promise.all(attempts.map((t) => evaluator.score(t, random.split("audit", t.id))));
  return scores.map((of) => of && totalScore(of));
}

const centreOf = (xs: readonly number[]) => ({ mean: mean(xs), deviation: standardDeviation(xs) });

/** Mean over attempts of Σ_t (ln π(t) − ln π_beginning(t)): an unbiased estimate of the KL divergence, in nats an attempt. */
async function distanceOf(
  ctx: Ctx,
  played: readonly Trajectory[],
  units: AnnotatedExperience["units"],
): Promise<number> {
  const none = new Map(played.map((t) => [t.id, new Float32Array(actionTokens(t))]));
  const { batch } = batchOf(played, units, none);
  if (batch.rows.length === 0) return Number.NaN;
  const { logp } = await ctx.frozen(beginning).score(batch);
  let nats = 0;
  for (let a = 0; a < logp.length; a++) nats += batch.logp_A[a]! - logp[a]!;
  return nats / new Set(batch.rows.map(({ trajectory }) => trajectory)).size;
}

function tooFar(
  { blocks, open }: Pick<NonNullable<Assembly["state"]["watch"]>, "blocks" | "open">,
  iteration: number,
  nats: number,
): WatchAlarm {
  const [first, last] = [blocks[0] ?? open, open ?? blocks.at(-1)];
  const means = (of: "paid" | "audit"): [number, number] =>
    [first, last].map((b) => (b ? b[of].sum / b[of].n : Number.NaN)) as [number, number];
  return {
    why: "distance",
    iteration,
    since: [first?.from ?? 0, first?.until ?? 0],
    paid: means("paid"),
    audit: means("audit"),
    p: nats,
  };
}

const short = (x: number): string => String(Number(x.toPrecision(3)));

function findingOf(alarm: WatchAlarm, { onAlarm = "stop", distance }: WatchOptions): Finding {
  const { iteration, since, paid, audit, p } = alarm;
  const ended = onAlarm === "stop" ? "Training ends here." : "Training goes on.";
  if (alarm.why === "distance") {
    return {
      check: "watch",
      severity: "warning",
      problem: `Iteration ${iteration}: the policy is ${short(p)} nats an attempt away from its beginning, beyond the ${distance} that the watch allows. ${ended}`,
      fix: "Audit what it does there, or strengthen the pull towards the beginning.",
    };
  }
  const [diversity, noise] = [alarm.diversity, alarm.noise];
  if (diversity && noise) {
    return {
      check: "watch",
      severity: "error",
      problem: `Iteration ${iteration}: answers to a task have become alike (share of different ones ${short(diversity[0])} in iterations ${since[0] + 1} to ${since[1]}, ${short(diversity[1])} of late), while what is paid is wrong by ${short(100 * noise[1])} % of the audits (${short(100 * noise[0])} % then): the policy is sure of what is wrong. ${ended}`,
      fix: "Keep the weights of the best audits. Pay only where labels are sure, mix in tasks with true labels, or strengthen the pull towards the beginning.",
    };
  }
  return {
    check: "watch",
    severity: "error",
    problem: `Iteration ${iteration}: what is paid rose from ${short(paid[0])} to ${short(paid[1])} since iterations ${since[0] + 1} to ${since[1]}, while audits fell from ${short(audit[0])} to ${short(audit[1])} (p = ${short(p)}): the policy exploits what pays it. ${ended}`,
    fix: "Keep the weights of the best audits, fit the reward model to replies like the latest ones, or strengthen the pull towards the beginning.",
  };
}
