/** The first two stages of the loop: choosing tasks and playing them. */
import type { Ctx } from "../core/context.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Experience, Slots } from "../core/slots.ts";
import type { Task } from "../core/types.ts";
import type { RunSettings } from "./config.ts";
import { type EpisodeBook, episodeBook } from "./contextParts.ts";
import { inForce } from "./phases.ts";
import type { Run } from "./running.ts";

/** What one iteration needs of a run. */
export interface RolloutRun
  extends Pick<Run, "state" | "random" | "stop" | "tasks" | "heldOut" | "context" | "settle"> {
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

/**
 * Chooses tasks, and stores the data slot's new state. Held-out tasks among the chosen ones are dropped and counted.
 * @throws WhetstoneError `task.none` where nothing else was chosen.
 */
export async function plan(run: RolloutRun): Promise<Plan> {
  const { settings, state, random, tasks, context, heldOut } = run;
  const { slots, phase } = inForce(settings.method, state);
  const { data } = slots;
  const book = episodeBook([]);
  const ctx = { ...context(tasks, phase, { state, book }), random: random.split("data", state.iteration) };
  const chosen = await data.choose(ctx, tasks, state.data[data.name] ?? data.init(tasks));
  state.data[data.name] = chosen.next;
  const allowed = chosen.tasks.filter((task) => !heldOut.has(task));
  const refused = chosen.tasks.length - allowed.length;
  if (refused > 0) ctx.count("tasks.refused", refused);
  if (refused > 0 && allowed.length === 0) {
    throw new WhetstoneError("task.none", {
      where: `data "${data.name}"`,
      got: `a choice of held-out tasks alone, such as "${chosen.tasks[0]!.id}"`,
      expected: "training tasks, or made ones that no held-out task equals",
      fix: "Make other tasks: what is measured may not be trained on.",
    });
  }
  for (const task of allowed) book.made.set(task.id, task);
  return { slots, phase, tasks: allowed, book };
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
