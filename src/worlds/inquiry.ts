/** Finding a hidden answer by asking: each right query narrows it down, the others tell nothing. */
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
  /** Right queries, one after the other, until the answer is known. Default 2. */
  readonly hops?: number;
  /** What a right query can turn up; there are branching ** hops answers. Default 8. */
  readonly branching?: number;
  /** Queries to choose from. Default 24. */
  readonly queries?: number;
  /** Actions in all, the answer among them. Default 4. */
  readonly turns?: number;
  /** Share of right queries that come back empty-handed, in [0, 1). Default 0. */
  readonly miss?: number;
  /** Default 1. */
  readonly seed?: number;
}

/**
 * A task has a topic (`topic t3`) and a hidden answer (`a12`) that is spelled by its findings: the digits of its number
 * in base `branching`. A query (`q7`) that is right for what is known so far turns up the next finding, after which the
 * environment says all that is known (`known n1 n4`); any other action gets the same words again. `answer a12` ends the
 * episode and pays 1 if it is right. Which query is right depends on the topic at first and on the findings later.
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

  /** What the agent knows, as the environment says it. */
  const said = (task: Task, found: number): string =>
    found === 0 ? task.prompt[0]!.content : `known ${findingsOf(task).slice(0, found).join(" ")}`;

  /** The right query of a state, by what is said in it. */
  const rightQuery = (state: string): string => `q${randomStream(seed).split("query", state).below(queries)}`;

  function start(task: Task, random: Random, from = { turn: 0, found: 0, over: false }): Episode {
    let { turn, found, over } = from;
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
      fork: async () => start(task, random, { turn, found, over }),
    };
  }

  return defineEnvironment({
    name: "inquiry",
    summary: "ask the right queries in order to find a hidden answer",
    abilities: new Set(["fork", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns, actionTokens: 2 },
    tasks: (split) =>
      Array.from({ length: topics * answers }, (_, number) => number)
        .filter((number) => split === (number % 5 === 4 ? "test" : "train"))
        .map(taskAt),
    start: async (task, random) => start(task, random),
    lexicon: () => [
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
