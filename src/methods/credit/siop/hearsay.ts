/** Questions that tools answer with different accuracies, which the agent does not know. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../../../env/environment.ts";

/** Settings of {@link hearsay}. */
export interface HearsayOptions {
  /** Number of training questions; as many others are held out. Default 12. */
  readonly questions?: number;
  /** Answers to choose from. Default 8. */
  readonly answers?: number;
  /** Accuracy of each tool, `t0`, `t1`…; a wrong answer is any of the others. Default 0.7 and 0.3. */
  readonly tools?: readonly number[];
  /** Default 1. */
  readonly seed?: number;
}

const turns = 2;
const splits = ["train", "test"];

/**
 * Every question has a word of its own, `q3`, and the agent is first asked `which tool`: the same words for all questions,
 * as the choice is the same. `use t0` asks a tool, which says an answer (`q3 says a5`); `use none` hears `q3 says nothing`.
 * `answer a5`, then or at once, ends the episode and pays 1 if it is right.
 */
export function hearsay(options: HearsayOptions = {}): Environment {
  const { questions = 12, answers = 8, tools = [0.7, 0.3], seed = 1 } = options;

  function taskAt(split: string, index: number): Task {
    const number = splits.indexOf(split) * questions + index;
    const random = randomStream(seed).split("question", number);
    return {
      id: `hearsay/${number}`,
      prompt: [{ role: "user", content: `q${number}` }],
      reference: `a${random.below(answers)}`,
      metadata: {},
      seed: random.seed,
    };
  }

  /** The tool's answer, "nothing" if the tool does not exist. */
  function said(task: Task, tool: string, random: Random): string {
    const truth = tools[/^t\d+$/.test(tool) ? Number(tool.slice(1)) : -1];
    if (truth === undefined) return "nothing";
    if (random.next() < truth) return task.reference!;
    const right = Number(task.reference!.slice(1));
    return `a${(right + 1 + random.below(answers - 1)) % answers}`;
  }

  function start(task: Task, random: Random): Episode {
    let heard: string | undefined;
    let turn = 0;
    return {
      observe: async () => {
        const question = task.prompt[0]!.content;
        const content = heard === undefined ? "which tool" : `${question} says ${heard}`;
        return {
          role: "agent",
          observation: { messages: [{ role: "user", content }], stateKey: `${question} ${content}` },
        };
      },
      act: async ({ content }): Promise<Step> => {
        if (turn >= turns) return alreadyOver;
        turn++;
        const [verb, object = "", ...rest] = content.trim().split(/\s+/);
        if (verb === "answer") {
          turn = turns;
          const success = rest.length === 0 && object === task.reference;
          return {
            rewards: { outcome: success ? 1 : 0 },
            end: { kind: "done", reason: "answered", success },
          };
        }
        heard = verb === "use" ? said(task, object, random.split("tool")) : "nothing";
        return turn >= turns
          ? { rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turn } }
          : {};
      },
    };
  }

  return defineEnvironment({
    name: "hearsay",
    summary: "answer by memory or by what a tool says, of which one is right more often",
    abilities: new Set(["stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 2 },
    tasks: (split) =>
      splits.includes(split) ? Array.from({ length: questions }, (_, index) => taskAt(split, index)) : [],
    start: async (task, random) => start(task, random),
    vocabulary: () => [
      "which tool use none answer says nothing",
      ...tools.map((_, t) => `t${t}`),
      ...Array.from({ length: answers }, (_, a) => `a${a}`),
      ...Array.from({ length: 2 * questions }, (_, q) => `q${q}`),
    ],
    expert: (task) => `answer ${task.reference}`,
    async verify(task: Task, trajectory: Trajectory) {
      const [verb, object, ...rest] = trajectory.turns.at(-1)?.action.content.trim().split(/\s+/) ?? [];
      return { outcome: verb === "answer" && object === task.reference && rest.length === 0 ? 1 : 0 };
    },
  });
}
