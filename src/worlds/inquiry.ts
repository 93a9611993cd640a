/** Finding a hidden answer by queries: each right query narrows it down, others give no information. */
import { type Random, randomStream } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../env/environment.ts";

/** Settings of {@link inquiry}. */
export interface InquiryOptions {
  /** Kinds of questions; each has its own right first query. Default 8. */
  readonly topics?: number;
  /** Number of successive right queries until the answer is known. Default 2. */
  readonly hops?: number;
  /** Number of possible findings of a right query; there are branching ** hops answers. Default 8. */
  readonly branching?: number;
  /** Queries to choose from. Default 24. */
  readonly queries?: number;
  /** Action limit, including the answer. Default 4. */
  readonly turns?: number;
  /** Share of right queries without a result, in [0, 1). Default 0. */
  readonly miss?: number;
  /** Default 1. */
  readonly seed?: number;
}

/**
 * A task has a topic (`topic t3`) and a hidden answer (`a12`), which is encoded by its findings: the digits of its number in
 * base `branching`. A query (`q7`) that is right in the current state reveals the next finding, and the observation lists
 * all findings (`known n1 n4`); after any other action the observation is unchanged. `answer a12` ends the episode and pays
 * 1 if it is right. The right query depends on the topic at first and on the findings later.
 */
export function inquiry(options: InquiryOptions = {}): Environment {
  const { topics = 8, hops = 2, branching = 8, queries = 24, turns = 4, miss = 0, seed = 1 } = options;
  const answers = branching ** hops;

  function taskAt(number: number): Task {
    const hidden = number % answers;
    const topic = Math.floor(number / answers);
    const findings = Array.from(
      { length: hops },
      (_, hop) => `n${Math.floor(hidden / branching ** (hops - 1 - hop)) % branching}`,
    );
    return {
      id: `inquiry/${number}`,
      prompt: [{ role: "user", content: `topic t${topic}` }],
      reference: `a${hidden}`,
      metadata: { findings },
      seed: randomStream(seed).split("task", number).seed,
    };
  }

  /** The observation: what the agent knows. */
  const said = (task: Task, found: number): string =>
    found === 0 ? task.prompt[0]!.content : `known ${findingsOf(task).slice(0, found).join(" ")}`;

  /** The right query for an observation. */
  const rightQuery = (state: string): string => `q${randomStream(seed).split("query", state).below(queries)}`;

  function start(task: Task, random: Random): Episode {
    let [turn, found, over] = [0, 0, false];
    return {
      observe: async () => {
        const state = said(task, found);
        return {
          role: "agent",
          observation: { messages: turn === 0 ? [] : [{ role: "user", content: state }], stateKey: state },
        };
      },
      act: async ({ content }): Promise<Step> => {
        if (over) return alreadyOver;
        turn++;
        const action = content.trim();
        if (action.startsWith("answer ")) {
          over = true;
          const success = isRight(task, action);
          return {
            rewards: { outcome: success ? 1 : 0 },
            end: { kind: "done", reason: "answered", success },
          };
        }
        const missed = random.split("miss", turn).next() < miss;
        if (found < hops && action === rightQuery(said(task, found)) && !missed) found++;
        over = turn >= turns;
        return over ? { rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turn } } : {};
      },
    };
  }

  return defineEnvironment({
    name: "inquiry",
    summary: "ask the right queries in order to find a hidden answer",
    abilities: new Set(["stateKey", "expert"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns, actionTokens: 2 },
    tasks: (split) =>
      Array.from({ length: topics * answers }, (_, number) => number)
        .filter((number) => split === (number % 5 === 4 ? "test" : "train"))
        .map(taskAt),
    start: async (task, random) => start(task, random),
    vocabulary: () => [
      "topic known answer",
      ...names("t", topics),
      ...names("q", queries),
      ...names("n", branching),
      ...names("a", answers),
    ],
    expert: (task, conversation) => {
      const state = conversation.findLast((m) => m.role === "user")?.content ?? "";
      return state === said(task, hops) ? `answer ${task.reference}` : rightQuery(state);
    },
    async verify(task: Task, trajectory: Trajectory) {
      return { outcome: isRight(task, trajectory.turns.at(-1)?.action.content.trim() ?? "") ? 1 : 0 };
    },
  });
}

const findingsOf = (task: Task): readonly string[] => task.metadata.findings as readonly string[];
const isRight = (task: Task, action: string): boolean => action === `answer ${task.reference}`;
const names = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${kind}${i}`);

/** Whether an answer can be the hidden one after these findings. @param of the environment's settings. */
export function fits(
  answer: string,
  findings: readonly string[],
  { hops = 2, branching = 8 }: Pick<InquiryOptions, "hops" | "branching"> = {},
): boolean {
  const number = Number(answer.slice(1));
  return findings.every(
    (finding, hop) => finding === `n${Math.floor(number / branching ** (hops - 1 - hop)) % branching}`,
  );
}
