/** Makes a single-reply environment multi-turn: after feedback, the agent may reply again. */
import { WhetstoneError } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../env/environment.ts";

/** Input of a teacher: an attempt that is not the last. */
export interface Advice {
  readonly task: Task;
  /** All replies so far; the feedback is about the last one. */
  readonly replies: readonly string[];
  /** The environment's own feedback on the last reply, if any. */
  readonly text: string | undefined;
  /** Random stream of this feedback alone. */
  readonly random: Random;
}

/** Gives feedback on a reply. It knows the task with its answer, and must not reveal the answer. */
export type Teacher = (lesson: Advice) => string | Promise<string>;

/** Settings of {@link tryAgain}. */
export interface TryAgainOptions {
  /** Largest number of replies per episode. Default 5. */
  readonly turns?: number;
  /** The fixed feedback after a reply, or a teacher that gives it. Default "Incorrect. Please think again." */
  readonly words?: string | Teacher;
  /** "right": the first right reply ends the episode. "last": every reply except the last gets feedback, right or wrong, and the last one counts. Default "right". */
  readonly until?: "right" | "last";
  /** Texts with every word of the teacher that the environment's vocabulary lacks. */
  readonly vocabulary?: () => readonly string[];
}

/**
 * The same tasks with several attempts: after a wrong reply the observation is `words`, and earlier messages stay in the
 * conversation; the first right reply, or the last turn, ends the episode. Every reply is judged like a first one, by a new
 * episode of the environment with the same random stream, and gets its rewards. No observation says that a reply was right,
 * unless a teacher does. A failed or truncated inner episode ends the whole episode.
 * Papers: "A Simple "Try Again" Can Elicit Multi-Turn LLM Reasoning"; with a teacher: "Improving Interactive In-Context
 * Learning from Natural Language Feedback"; until the last reply: "Training Language Models to Self-Correct via
 * Reinforcement Learning".
 * @throws WhetstoneError `config.invalid` for an environment of several turns.
 */
export function tryAgain(environment: Environment, options: TryAgainOptions = {}): Environment {
  const { turns = 5, words = "Incorrect. Please think again.", until = "right" } = options;
  const { vocabulary, verify, critique, limits, ...rest } = environment;
  if (limits.turns !== 1) {
    throw new WhetstoneError("config.invalid", {
      where: `tryAgain, environment "${environment.name}"`,
      got: `${limits.turns} turns`,
      expected: "an environment whose episodes are one reply",
      fix: "Wrap an environment of a single reply.",
    });
  }
  const start = async (task: Task, random: Random): Promise<Episode> => {
    const begin = () => environment.start(task, random.split("judge"));
    let replies: readonly string[] = [];
    /** Feedback on the last reply. */
    let said = "";
    let over = false;
    let inner = await begin();
    return {
      async observe() {
        const { role, observation } = await inner.observe();
        const { stateKey } = observation;
        const heard = typeof words === "string" ? "" : ` ${JSON.stringify([...replies, said])}`;
        return {
          role,
          observation: {
            ...observation,
            messages: replies.length === 0 ? observation.messages : [{ role: "user", content: said }],
            ...(stateKey === undefined ? {} : { stateKey: `${stateKey} after ${replies.length}${heard}` }),
          },
        };
      },
      async act(action) {
        if (over) return alreadyOver;
        const { end, ...step } = await inner.act(action);
        replies = [...replies, action.content.trim()];
        const settled = end?.kind === "done" ? end.success === true && until === "right" : end !== undefined;
        over = settled || replies.length >= turns;
        if (over) return { ...step, ...(end && { end }) };
        const lesson = { task, replies, text: step.text, random: random.split("lesson", replies.length) };
        said = typeof words === "string" ? words : await words(lesson);
        await inner.close?.();
        inner = await begin();
        return step;
      },
      close: async () => inner.close?.(),
    };
  };
  return defineEnvironment({
    ...rest,
    name: `try-again-${environment.name}`,
    summary: `${environment.summary}; ${turns} tries, each ${until === "right" ? "wrong " : ""}one met with words`,
    limits: { ...limits, turns },
    start,
    ...(vocabulary && {
      vocabulary: () => [
        ...vocabulary(),
        ...(typeof words === "string" ? [words] : (options.vocabulary?.() ?? [])),
      ],
    }),
    ...(verify && {
      verify: (task: Task, trajectory) => verify(task, lastReply(trajectory)),
    }),
    // a critique covers the last reply alone, at its own turn
    ...(critique && {
      critique: async (task: Task, trajectory, request) => {
        const before = Math.max(0, trajectory.turns.length - 1);
        const { turn, marks, ...said } = await critique(task, lastReply(trajectory), request);
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
