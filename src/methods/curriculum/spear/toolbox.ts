import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Settings of {@link toolbox}. */
export interface ToolboxOptions {
  /** Number of training problems, and of held-out ones. Default 10. */
  readonly problems?: number;
  /** Tools of every problem, two of which are needed. Default 5. */
  readonly tools?: number;
  /** Answers to choose from. Default 3. */
  readonly answers?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** What a problem needs: its tools, and then its answer. */
export interface Needed {
  readonly tools: readonly string[];
  readonly answer: string;
}

/** What a task needs. */
export const neededBy = ({ metadata }: Task): Needed => ({
  tools: metadata.tools as readonly string[],
  answer: String(metadata.answer),
});

interface State {
  readonly called: readonly string[];
  readonly turn: number;
}

const turns = 6;

/**
 * Problem 3 with two tools called is seen as "p3 t0 t4". "call t2" calls a tool, "answer a1" ends the episode; it pays `outcome` 1
 * if the two tools that the problem needs were called and the answer is right, else 0. After six actions it is over.
 */
export function toolbox(options: ToolboxOptions = {}): Environment {
  const { problems = 10, tools = 5, answers = 3, seed = 1 } = options;
  const toolWords = Array.from({ length: tools }, (_, i) => `t${i}`);
  const answerWords = Array.from({ length: answers }, (_, i) => `a${i}`);
  const splits = ["train", "test"] as const;
  const seen = (task: Task, called: readonly string[]): string =>
    [`p${task.metadata.number}`, ...called.toSorted()].join(" ");
  const taskAt = (split: string, index: number): Task => {
    const number = split === "train" ? index : problems + index;
    const random = randomStream(seed).split("problem", number);
    return {
      id: `toolbox/${split}/${index}`,
      prompt: [{ role: "user", content: `p${number}` }],
      metadata: {
        number,
        tools: shuffled(toolWords, random.split("tools")).slice(0, 2),
        answer: answerWords[random.split("answer").below(answers)]!,
      },
      seed: random.seed,
    };
  };
  return defineEnvironment({
    name: "toolbox",
    summary: "call the two tools that a problem needs, then answer it",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 2 },
    vocabulary: () => [
      "call answer",
      ...toolWords,
      ...answerWords,
      ...Array.from({ length: 2 * problems }, (_, i) => `p${i}`),
    ],
    tasks: (split) =>
      splits.some((name) => name === split)
        ? Array.from({ length: problems }, (_, i) => taskAt(split, i))
        : [],
    expert: (task, conversation) => {
      const { tools: needed, answer } = neededBy(task);
      const said = conversation
        .filter(({ role }) => role === "assistant")
        .map(({ content }) => content.trim());
      const missing = needed.find((tool) => !said.includes(`call ${tool}`));
      return missing === undefined ? `answer ${answer}` : `call ${missing}`;
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: ({ called, turn }) => ({
            messages: turn === 0 ? [] : [{ role: "user", content: seen(task, called) }],
            stateKey: seen(task, called),
          }),
          act: ({ called, turn }, action) => {
            const [verb, word = ""] = action.split(/\s+/);
            const next = {
              called:
                verb === "call" && toolWords.includes(word) && !called.includes(word)
                  ? [...called, word]
                  : called,
              turn: turn + 1,
            };
            if (verb !== "answer") {
              return next.turn < turns
                ? { next }
                : {
                    next,
                    rewards: { outcome: 0 },
                    end: { kind: "truncated", limit: "turns", at: turns },
                  };
            }
            const { tools: needed, answer } = neededBy(task);
            const success = word === answer && needed.every((tool) => called.includes(tool));
            const end = { kind: "done", reason: success ? "right" : "wrong", success } as const;
            return { next, rewards: { outcome: Number(success) }, end };
          },
        },
        { called: [], turn: 0 },
        random,
      ),
    verify: async (_task, { turns: made }) => ({ outcome: made.at(-1)?.rewards.outcome ?? 0 }),
  });
}
