/** Everything that a run must remember to go on as if it had never stopped. */
import { z } from "zod";
import type { Clock } from "../core/context.ts";
import type { Json } from "../core/json.ts";

const json: z.ZodType<Json> = z.json();
const interval = z.object({ mean: z.number(), low: z.number(), high: z.number(), n: z.number() });
const evaluation = z.object({
  split: z.string(),
  mode: z.enum(["sampled", "greedy"]),
  success: interval,
  reward: z.number(),
  turns: z.number(),
  tasks: z.number(),
  failed: z.number(),
  seconds: z.number(),
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
  /** Updates made, held-out losses at the present step size, and how often that was dropped. */
  warm: z.object({ update: z.int(), losses: z.array(z.number()), drops: z.int() }),
  /** State of the data slot; null before its first use. */
  data: json,
  /** States of the advantage slot's pieces, in their order. */
  advantage: z.array(json),
  memory: z.record(z.string(), json),
  counters: z.record(z.string(), z.number()),
  before: z.array(evaluation),
  best: z.object({ iteration: z.int(), success: z.number() }).nullable(),
});
export type RunState = z.infer<typeof stateSchema>;

export const freshState = (phase: RunState["phase"]): RunState => ({
  format: 1,
  phase,
  iteration: 0,
  step: 0,
  seconds: 0,
  warm: { update: 0, losses: [], drops: 0 },
  data: null,
  advantage: [],
  memory: {},
  counters: {},
  before: [],
  best: null,
});

export const clockOf = (state: RunState, iterations: number, phase: string = state.phase): Clock => ({
  iteration: state.iteration,
  phase,
  step: state.step,
  iterations,
});
