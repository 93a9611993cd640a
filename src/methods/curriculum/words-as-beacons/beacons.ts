import type { Clock, Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback, Rollout } from "../../../core/slots.ts";
import type { Id, Message, Task } from "../../../core/types.ts";
import { type Advisor, noProgress, progressed, type Subgoal } from "./advisor.ts";

/** Settings of {@link beacons} and {@link beaconBonus}. */
export interface BeaconOptions {
  /** Actions after which a subgoal is skipped. */
  readonly patience: number;
  /** Share of the run over which subgoals and bonuses fade out. */
  readonly fades: number;
}

/** Begins the message that shows a subgoal. */
const subgoalWords = "subgoal :";

const keyOf = (task: Id): string => `beacons ${task}`;

/** How far the fading has come, in [0, 1]: linear over a share of the run; 0 where the run's length is unknown. */
export const fadedBy = ({ iteration, iterations }: Clock, fades: number): number =>
  iterations === undefined ? 0 : Math.min(1, iteration / (fades * iterations));

/** The advice for a task, asked for once and kept in the run's memory. */
async function adviceOn(ctx: Ctx, task: Task, advisor: Advisor): Promise<readonly Subgoal[]> {
  const known = ctx.memory.get(keyOf(task.id));
  if (known !== undefined) return known as unknown as readonly Subgoal[];
  const advice = await advisor(task, ctx.random.split("advice", task.id));
  ctx.memory.set(keyOf(task.id), advice as unknown as Json);
  return advice;
}

const textOf = (messages: readonly Message[]): string => messages.map(({ content }) => content).join("\n");

/**
 * Plays every task several times with the current subgoal in a message before each action. An episode is played without any
 * subgoal with a probability that rises from 0 to 1 over the first `fades` of the run. Units: one trajectory each, grouped by task.
 * Stats: told, share of the episodes with subgoals; reached, subgoals reached per episode.
 * Paper: "Words as Beacons: Guiding RL Agents with High-Level Language Prompts".
 */
export function beacons(
  options: BeaconOptions & {
    readonly groupSize: number;
    readonly temperature?: number;
    readonly advisor: Advisor;
    /** False never shows a subgoal. Default true. */
    readonly shown?: boolean;
  },
): Rollout {
  const { groupSize, temperature, advisor, patience, fades, shown = true } = options;
  return async (ctx) => {
    const left = fadedBy(ctx.clock, fades);
    let [told, reached] = [0, 0];
    const play = async (task: Task, attempt: number) => {
      const subgoals = await adviceOn(ctx, task, advisor);
      const isTold = shown && ctx.random.split("told", task.id, attempt).next() >= left;
      if (isTold) told++;
      let progress = noProgress;
      return ctx.play({
        task: task.id,
        attempt,
        ...(temperature !== undefined && { temperature }),
        advise: ({ turn, messages }) => {
          if (turn > 0) progress = progressed(progress, textOf(messages), subgoals, patience);
          if (progress.reached) reached++;
          const current = subgoals[progress.at];
          return isTold && current ? [{ role: "user", content: `${subgoalWords} ${current.say}` }] : [];
        },
      });
    };
    const plays = ctx.tasks.flatMap((task) => Array.from({ length: groupSize }, (_, i) => play(task, i)));
    const trajectories = (await Promise.all(plays)).flat();
    const episodes = Math.max(1, plays.length);
    return {
      trajectories,
      units: trajectories
        .filter(({ end, turns }) => end.kind !== "failed" && turns.length > 0)
        .map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
      stats: { told: told / episodes, reached: reached / episodes },
    };
  };
}

/**
 * A bonus for the action after which a subgoal was reached, whether or not the agent was told it: `bonus` divided by the task's
 * number of subgoals, times what the fading has left. Each pays once. A sign that shows only after the last action pays nothing.
 * Signals on channel "beacon".
 * Paper: "Words as Beacons: Guiding RL Agents with High-Level Language Prompts".
 */
export function beaconBonus({
  bonus,
  patience,
  fades,
}: BeaconOptions & { readonly bonus: number }): Feedback {
  return async (ctx, { trajectories }) => {
    const share = bonus * (1 - fadedBy(ctx.clock, fades));
    const signals: Signal[] = [];
    for (const { id, task, turns, end } of trajectories) {
      const subgoals = (ctx.memory.get(keyOf(task)) ?? []) as unknown as readonly Subgoal[];
      if (end.kind === "failed" || share <= 0) continue;
      let progress = noProgress;
      for (let k = 1; k < turns.length; k++) {
        progress = progressed(
          progress,
          seenSince(turns[k - 1]!.prompt, turns[k]!.prompt),
          subgoals,
          patience,
        );
        if (!progress.reached) continue;
        const about = [{ trajectory: id, turn: k - 1 }];
        signals.push({
          kind: "reward",
          channel: "beacon",
          about,
          value: share / subgoals.length,
          source: "advisor",
        });
      }
    }
    return signals;
  };
}

/** What an action was answered with: the messages of the next prompt after it, without a subgoal. */
const seenSince = (before: readonly Message[], now: readonly Message[]): string =>
  textOf(now.slice(before.length + 1).filter(({ content }) => !content.startsWith(subgoalWords)));
