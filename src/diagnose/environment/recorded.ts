/** An episode played as a run would play it, with everything that the environment said and how long it took. */
import { messageOf } from "../../core/errors.ts";
import type { Random } from "../../core/random.ts";
import type { Task, Trajectory } from "../../core/types.ts";
import type { Environment, Episode, Observation, Player, Step } from "../../env/environment.ts";
import { scriptActor } from "../../rollout/actor.ts";
import { playEpisode } from "../../rollout/episode.ts";

export interface RecordedEpisode {
  readonly task: Task;
  readonly trajectories: readonly Trajectory[];
  readonly observations: readonly Observation[];
  readonly actions: readonly string[];
  readonly steps: readonly Step[];
  /** Time that the environment took, in seconds. */
  readonly seconds: number;
  /** The call that took longest. */
  readonly slowest?: { readonly call: string; readonly seconds: number };
  /** What the player threw, where it did. */
  readonly threw?: string;
}

/** @param onCall called before each call of the environment, with its name. */
export async function playRecorded(
  environment: Environment,
  task: Task,
  player: Player,
  random: Random,
  onCall: (call: string) => void = () => {},
): Promise<RecordedEpisode> {
  const observations: Observation[] = [];
  const actions: string[] = [];
  const steps: Step[] = [];
  let seconds = 0;
  let slowest: RecordedEpisode["slowest"];
  let threw: string | undefined;
  const timed = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const named = `${name} in task "${task.id}"`;
    onCall(named);
    const began = performance.now();
    try {
      return await call();
    } finally {
      const took = (performance.now() - began) / 1000;
      seconds += took;
      if (took > (slowest?.seconds ?? 0)) slowest = { call: named, seconds: took };
    }
  };
  const watched: Environment = {
    ...environment,
    start: async (started, stream) => {
      const episode = await timed("start()", () => environment.start(started, stream));
      const close = episode?.close?.bind(episode);
      // what is no episode is refused by whoever plays it
      if (typeof episode?.act !== "function" || typeof episode.observe !== "function") return episode;
      const observed: Episode = {
        observe: async () => {
          const turn = await timed("observe()", () => episode.observe());
          if (turn?.observation) observations.push(turn.observation);
          return turn;
        },
        act: async (action) => {
          const step = await timed("act()", () => episode.act(action));
          steps.push(step);
          return step;
        },
        ...(close && { close }),
      };
      return observed;
    },
  };
  const heard: Player = (...seen) => {
    try {
      const said = player(...seen);
      actions.push(said);
      return said;
    } catch (e) {
      threw = messageOf(e);
      throw e;
    }
  };
  const trajectories = await playEpisode({
    environment: watched,
    task,
    id: `validation/${task.id}`,
    actor: () => scriptActor("policy", heard),
    random,
  });
  return {
    ...{ task, trajectories, observations, actions, steps, seconds },
    ...(slowest && { slowest }),
    ...(threw !== undefined && { threw }),
  };
}

/** Whether two values say the same. */
export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
