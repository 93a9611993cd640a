/** The state that a run needs to resume as if it had not stopped. */
import { z } from "zod";
import type { Clock } from "../core/context.ts";
import type { Json } from "../core/json.ts";
import type { Task } from "../core/types.ts";
import { watchStateSchema } from "../diagnose/watch.ts";

/** Pieces own their states; NaN and the infinities are numbers like others. */
const json = z.custom<Json>((value) => value !== undefined);
const real = z.custom<number>((value) => typeof value === "number");
const interval = z.object({ mean: real, low: real, high: real, n: z.int() });
const evaluation = z.object({
  split: z.string(),
  mode: z.enum(["sampled", "greedy"]),
  success: interval,
  reward: real,
  turns: real,
  tasks: z.number(),
  failed: z.number(),
  seconds: z.number(),
  trainedShare: z.number().default(0),
});

export const stateSchema = z.object({
  format: z.literal(1),
  /** "warm start" until it has converged, then "train", then "done". */
  phase: z.enum(["warm start", "train", "done"]),
  /** Iterations finished. */
  iteration: z.int().nonnegative(),
  /** Optimiser steps finished, warm start included. */
  step: z.int().nonnegative(),
  /** Wall-clock seconds of all sessions of this run. */
  seconds: z.number(),
  /** Of these, the seconds of training, which a budget limits. */
  trainedSeconds: z.number(),
  /** Updates made, held-out losses at the current learning rate, and how often it was lowered. */
  warm: z.object({ update: z.int(), losses: z.array(real), drops: z.int() }),
  /** States of the data slot's pieces by name, since phases may change the piece. */
  data: z.record(z.string(), json),
  /** States of the advantage slot's pieces, by place and name. */
  advantage: z.record(z.string(), json),
  memory: z.record(z.string(), json),
  /** States of the method's helpers. */
  helpers: z.record(z.string(), json).default({}),
  counters: z.record(z.string(), z.number()),
  /** Running async rollouts, in order: their iteration, and the iteration and step of their weights. */
  ahead: z
    .array(
      z.object({
        iteration: z.int(),
        since: z.int(),
        step: z.int(),
        tasks: z.custom<readonly Task[]>(Array.isArray),
      }),
    )
    .default([]),
  before: z.array(evaluation),
  /** What an iteration takes, as it was estimated before the first one. */
  estimate: z.object({ seconds: z.number(), bytes: z.number() }).nullable().default(null),
  /** Iterations after which the policy was last validated; -1 before the first time. */
  validated: z.int().min(-1),
  best: z.object({ iteration: z.int(), success: z.number() }).nullable(),
  /** Where what is paid is watched. */
  watch: watchStateSchema.nullable().default(null),
});
export type RunState = z.infer<typeof stateSchema>;

export const freshState = (phase: RunState["phase"]): RunState => ({
  format: 1,
  phase,
  iteration: 0,
  step: 0,
  seconds: 0,
  trainedSeconds: 0,
  warm: { update: 0, losses: [], drops: 0 },
  data: {},
  advantage: {},
  memory: {},
  helpers: {},
  counters: {},
  ahead: [],
  before: [],
  estimate: null,
  validated: -1,
  best: null,
  watch: null,
});

export const clockOf = (state: RunState, iterations: number, phase: string = state.phase): Clock => ({
  iteration: state.iteration,
  phase,
  step: state.step,
  iterations,
});
