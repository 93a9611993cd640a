/** Any environment of a single reply, in which a wrong reply is met with the same few words and may be made again. */
import { WhetstoneError } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import type { Task, Trajectory } from "../core/words.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "./environment.ts";

/** Settings of {@link tryAgain}. */
export interface TryAgainOptions {
  /** Replies until the episode is over. Default 5. */
  readonly turns?: number;
  /** All that is said after a wrong reply. Default "Incorrect. Please think again." */
  readonly words?: string;
}

/**
 * The same tasks, asked again and again: after a wrong reply all that is seen is `words`, and what was said stays in the
 * conversation; the first right reply, or the last turn, ends the episode. Every reply is judged as a first one would be,
 * by an episode of the environment's own with the same random stream, and paid what that one pays. That something was
 * right is never seen by an action. An episode that fails or is cut off ends all of it.
 * Paper: "A Simple "Try Again" Can Elicit Multi-Turn LLM Reasoning".
 * @throws WhetstoneError `config.invalid` for an environment of several turns.
 */
export function tryAgain(environment: Environment, options: TryAgainOptions = {}): Environment {
  const { turns = 5, words = "Incorrect. Please think again." } = options;
  const { lexicon, verify, critique, limits, ...rest } = environment;
  if (limits.turns !== 1) {
    throw new WhetstoneError("config.invalid", {
      where: `tryAgain, environment "${environment.name}"`,
      got: `${limits.turns} turns`,
      expected: "an environment whose episodes are one reply",
      mend: "Wrap an environment of a single reply.",
    });
  }
  /** @param made replies so far, all of them wrong unless the episode is over. */
  const after = async (task: Task, random: Random, made: number, over: boolean): Promise<Episode> => {
    const begin = () => environment.start(task, random.split("judge"));
    let [replies, ended, inner] = [made, over, await begin()];
    return {
      async observe() {
        const { role, observation } = await inner.observe();
        const { stateKey } = observation;
        return {
          role,
          observation: {
            ...observation,
            messages: replies === 0 ? observation.messages : [{ role: "user", content: words }],
            ...(stateKey === undefined ? {} : { stateKey: `${stateKey} after ${replies}` }),
          },
        };
      },
      async act(action) {
        if (ended) return alreadyOver;
        const { end, ...step } = await inner.act(action);
        replies++;
        ended = replies >= turns || (end !== undefined && (end.kind !== "done" || end.success === true));
        if (ended) return { ...step, ...(end && { end }) };
        await inner.close?.();
        inner = await begin();
        return step;
      },
      fork: () => after(task, random, replies, ended),
      close: async () => inner.close?.(),
    };
  };
  return defineEnvironment({
    ...rest,
    name: `try-again-${environment.name}`,
    summary: `${environment.summary}; ${turns} tries, each wrong one met with the same words`,
    abilities: new Set([...environment.abilities, "fork"] as const),
    limits: { ...limits, turns },
    start: (task, random) => after(task, random, 0, false),
    ...(lexicon && { lexicon: () => [...lexicon(), words] }),
    ...(verify && {
      verify: (task: Task, trajectory) => verify(task, lastReply(trajectory)),
    }),
    // of the last reply alone, in its place
    ...(critique && {
      critique: async (task: Task, trajectory, wish) => {
        const before = Math.max(0, trajectory.turns.length - 1);
        const { turn, marks, ...said } = await critique(task, lastReply(trajectory), wish);
        return {
          ...said,
          ...(turn !== undefined && { turn: turn + before }),
          ...(marks && { marks: marks.map((mark) => ({ ...mark, turn: mark.turn + before })) }),
        };
      },
    }),
  });
}

const lastReply = (trajectory: Trajectory): Trajectory => ({
  ...trajectory,
  turns: trajectory.turns.slice(-1),
});
