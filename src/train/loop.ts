/**
 * The loop that everything is: practise, look at what happened, give credit, learn, repeat.
 *
 *     tasks ─▶ rollout ─▶ annotate ─▶ feedback ─▶ credit ─▶ advantage ─▶ objective ─▶ update ─┐
 *       ▲                                                                                     │
 *       └──────────────────────────── data ◀──────────────────────────────────────────────────┘
 */
import { batchOf } from "../core/pack.ts";
import type {
  Advantaged,
  Advantages,
  Channels,
  Evidence,
  Experience,
  Method,
  Notes,
  Slots,
} from "../core/slots.ts";
import type { Stats, Trajectory } from "../core/words.ts";
import type { Run } from "./assemble.ts";
import { clockOf } from "./state.ts";

/** What one iteration brought. */
export interface Iteration {
  readonly experience: Experience;
  readonly advantages: Advantages;
  readonly stats: Stats;
  readonly seconds: { readonly rollout: number; readonly update: number };
}

/** Runs until the planned iterations are done or the budget is spent. @throws the stop signal's reason when stopped. */
export async function loop(run: Run): Promise<void> {
  while (run.state.iteration < run.settings.iterations && !run.isSpent()) {
    const boundary = structuredClone(run.state);
    try {
      const done = await iterate(run);
      await run.commit(done);
    } catch (e) {
      // stopped before the update: the weights are still those of the boundary, so that is where a resumed run begins
      if (run.stop.aborted) await run.checkpoint(boundary);
      throw e;
    }
  }
}

async function iterate(run: Run): Promise<Iteration> {
  const { state, settings } = run;
  const slots = slotsAt(settings.method, state.iteration);
  const clock = clockOf(state, settings.iterations);
  const began = performance.now();

  const random = run.random.split("data", state.iteration);
  const dataState = state.data ?? slots.data.init(run.tasks);
  const chosen = slots.data.choose(run.tasks, dataState, random, clock);
  const ctx = run.context(chosen.practice);

  const experience = await slots.rollout(ctx);
  const notes = merged<Notes>(await Promise.all(slots.annotate.map((piece) => piece(ctx, experience))));
  const signals = (await Promise.all(slots.feedback.map((piece) => piece(ctx, experience, notes)))).flat();
  const heard = { ...experience, notes, signals };
  const evidence = { ...heard, channels: joined(slots.credit.map((piece) => piece(heard))) };
  const { advantages, next, stats } = advantage(slots, evidence, state.advantage);
  const { batch, cuts } = batchOf(experience.trajectories, experience.units, advantages, experience.rows);
  ctx.count("rows.cut", cuts);

  run.stop.throwIfAborted();
  const rolledOut = performance.now();
  const learnt = await slots.update(ctx, batch, slots.objective, evidence);

  state.data = slots.data.observe(evidence, chosen.next, clock);
  state.advantage = next;
  state.step += learnt.steps ?? 0;
  state.iteration++;
  const seconds = { rollout: (rolledOut - began) / 1000, update: (performance.now() - rolledOut) / 1000 };
  return { experience, advantages, stats: { ...stats, ...learnt }, seconds };
}

/** The slots in force: the method's own, or those of the last phase that has begun. */
function slotsAt({ slots, phases = [] }: Method, iteration: number): Slots {
  return phases.filter((p) => p.from <= iteration).reduce<Slots>((all, p) => ({ ...all, ...p.slots }), slots);
}

/** Each estimator in turn, on top of what the one before it made. */
function advantage(slots: Slots, evidence: Evidence, states: readonly Advantaged["next"][]) {
  let soFar: Advantages | undefined;
  const next: Advantaged["next"][] = [];
  const stats: Stats = {};
  for (const [i, piece] of slots.advantage.entries()) {
    const made = piece.apply(evidence, states[i] ?? piece.init(), soFar);
    soFar = made.advantages;
    next.push(made.next);
    Object.assign(stats, made.stats);
  }
  return { advantages: soFar ?? new Map<Trajectory["id"], Float32Array>(), next, stats };
}

const merged = <T extends object>(parts: readonly T[]): T => Object.assign({}, ...parts);

/** Channels of one name from several pieces are one channel. */
function joined(all: readonly Channels[]): Channels {
  const out: Record<string, Channels[string]> = {};
  for (const channels of all) {
    for (const [name, places] of Object.entries(channels)) out[name] = [...(out[name] ?? []), ...places];
  }
  return out;
}
