/** Success over the tasks of a split, with an interval. */

import { wilsonInterval } from "../common/statistics/statistics.ts";
import type { Artefact } from "../core/artefact.ts";
import type { Chat } from "../core/chat.ts";
import type { Model } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import { paid, succeeded, type Trajectory } from "../core/types.ts";
import type { Environment, Player } from "../env/environment.ts";
import { programOf } from "../memory/behaviourTree/artefact.ts";
import { type Actor, chatActor, scriptActor, withArtefact } from "../rollout/actor.ts";
import { playEpisode } from "../rollout/episode.ts";
import { actorOf } from "./actor.ts";
import type { EvaluationResult } from "./events.ts";

/** Settings of {@link evaluate}. */
export interface EvaluateOptions {
  readonly environment: Environment;
  /** A model, one that only talks, or a scripted player of the environment. */
  readonly agent: Model | Chat | Player;
  readonly split: string;
  readonly mode: "sampled" | "greedy";
  /** With "sampled". Default 1. */
  readonly temperature?: number;
  /** With "sampled". Default 1: every token may be sampled. */
  readonly topP?: number;
  /** Artefact in its prompts; a behaviour tree plays in its place. Default: none. */
  readonly artefact?: Artefact;
  /** Number of tasks, from the start of the split. */
  readonly tasks: number;
  /** Share of the split's tasks that are trained on as well. Default 0. */
  readonly trainedShare?: number;
  readonly random: Random;
  /** Restricts sampling to the actions that observations list as legal. */
  readonly constrained?: boolean;
  /** Called at the end of each episode. */
  readonly onEpisode?: () => void;
  /** Limits below the environment's own. */
  readonly limits?: { readonly turns?: number; readonly actionTokens?: number };
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  readonly stop?: AbortSignal;
}

/** Sum of all rewards that the environment paid. */
export const rewardOf = paid;

/** NaN of nothing. */
export const average = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;

/** Who acts in an evaluation: the agent with the artefact in its prompts, or the behaviour tree in its place. */
export function evaluatedActor({
  agent: given,
  artefact,
  stop,
}: Pick<EvaluateOptions, "agent" | "artefact" | "stop">): Actor {
  const agent = artefact?.kind === "tree" ? programOf(artefact).act : given;
  if (typeof agent === "function") return scriptActor("player", agent);
  const acting = "reply" in agent ? chatActor(agent.id, agent) : actorOf(agent.id, agent, stop);
  return artefact ? withArtefact(acting, artefact) : acting;
}

/**
 * Plays each task once. An episode succeeds when every role's trajectory ended as a success; episodes that failed (not the agent's
 * doing) are counted apart.
 * @returns with `outcomes` as the store keeps them.
 */
export async function evaluate(o: EvaluateOptions): Promise<{
  readonly result: EvaluationResult;
  readonly outcomes: string;
  readonly trajectories: readonly Trajectory[];
}> {
  const began = performance.now();
  const actor = evaluatedActor(o);
  const tasks = o.environment.tasks(o.split).slice(0, o.tasks);
  const episodes = await Promise.all(
    tasks.map((task) =>
      o.limit(() => {
        o.stop?.throwIfAborted();
        const episode = playEpisode({
          environment: o.environment,
          task,
          id: `evaluation/${o.split}/${o.mode}/${task.id}`,
          actor: () => actor,
          random: o.random.split("evaluation", o.split, task.id),
          temperature: o.mode === "greedy" ? 0 : (o.temperature ?? 1),
          ...(o.topP === undefined ? {} : { topP: o.topP }),
          ...(o.constrained ? { constrained: true } : {}),
          ...(o.limits ? { limits: o.limits } : {}),
        });
        return episode.finally(o.onEpisode);
      }),
    ),
  );
  const hasEnded = (played: readonly Trajectory[]): boolean => played.every((t) => t.end.kind !== "failed");
  const counted = episodes.filter(hasEnded);
  const wins = counted.filter((played) => played.every(succeeded)).length;
  const trajectories = episodes.flat();
  return {
    trajectories,
    outcomes: episodes.map((played) => (hasEnded(played) ? Number(played.every(succeeded)) : "-")).join(""),
    result: {
      split: o.split,
      mode: o.mode,
      success: wilsonInterval(wins, counted.length),
      reward: average(counted.flat().map(rewardOf)),
      turns: average(counted.flat().map((t) => t.turns.length)),
      tasks: tasks.length,
      failed: episodes.length - counted.length,
      seconds: (performance.now() - began) / 1000,
      trainedShare: o.trainedShare ?? 0,
    },
  };
}
