/** The first two stages of the loop: choosing tasks and playing them. */
import type { Ctx } from "../core/context.ts";
import type { Experience, Slots } from "../core/slots.ts";
import type { Task } from "../core/types.ts";
import type { RunSettings } from "./config.ts";
import { type EpisodeBook, episodeBook } from "./contextParts.ts";
import { inForce } from "./phases.ts";
import type { Run } from "./running.ts";

/** What one iteration needs of a run. */
export interface RolloutRun extends Pick<Run, "state" | "random" | "stop" | "tasks" | "context" | "settle"> {
  readonly settings: Pick<RunSettings, "method" | "iterations">;
}

/** The tasks and slots of an iteration. */
export interface Plan {
  readonly slots: Slots;
  readonly phase: string;
  readonly tasks: readonly Task[];
  /** Episodes that were played and tasks that were made during the choice. */
  readonly book?: EpisodeBook;
}

/** Chooses tasks, and stores the data slot's new state. */
export async function plan({ settings, state, random, tasks, context }: RolloutRun): Promise<Plan> {
  const { slots, phase } = inForce(settings.method, state);
  const { data } = slots;
  const book = episodeBook([]);
  const ctx = { ...context(tasks, phase, { state, book }), random: random.split("data", state.iteration) };
  const chosen = await data.choose(ctx, tasks, state.data[data.name] ?? data.init(tasks));
  state.data[data.name] = chosen.next;
  for (const task of chosen.tasks) book.made.set(task.id, task);
  return { slots, phase, tasks: chosen.tasks, book };
}

/** A plan with the experience from playing it. */
export interface Attempt extends Plan {
  readonly ctx: Ctx;
  readonly experience: Experience;
  readonly seconds: number;
}

/** Plays the planned tasks. */
export async function attempt(run: RolloutRun, { slots, phase, tasks, book }: Plan): Promise<Attempt> {
  const began = performance.now();
  const ctx = run.context(tasks, phase, book && { book });
  const experience = await slots.rollout(ctx);
  return { slots, phase, tasks, ctx, experience, seconds: (performance.now() - began) / 1000 };
}
