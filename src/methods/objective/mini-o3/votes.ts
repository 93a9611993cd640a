/** Unreliable witnesses: each vote costs a turn, and the policy decides when to answer. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import {
  type Ability,
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../../../env/environment.ts";

/** Settings of {@link votes}. */
export interface VotesOptions {
  /** Turn limit of an episode. Default 24. */
  readonly turns?: number;
  /** Tasks per split. Default 200. */
  readonly questions?: number;
  /** Probability that a vote names the right one of four answers; otherwise it names another one at random. Default 0.4. */
  readonly reliable?: number;
  /** Whether a task's attempts share the same votes or each draws its own; then no expert is always right. Default "task". */
  readonly evidence?: "task" | "episode";
  /** Default 1. */
  readonly seed?: number;
}

const answers = 4;
/** Total number of votes; further questions repeat the last state. */
const votesInAll = 64;
/** In every task the leading answer is right after some number of votes up to this one. */
const solvedWithin = 24;
/** Largest lead that is distinguished. */
export const largestLead = 8;

/** The leading answer after this many votes, the first of equals, and its lead. */
export function leaderAfter(
  task: Task,
  votes: number,
  given = task.metadata.given as readonly number[],
): { readonly right: boolean; readonly lead: number } {
  const counts = new Array<number>(answers).fill(0);
  for (const vote of given.slice(0, votes)) counts[vote]!++;
  const [most = 0, next = 0] = counts.toSorted((a, b) => b - a);
  return { right: counts.indexOf(most) === task.metadata.truth, lead: Math.min(largestLead, most - next) };
}

/** The word for a lead. */
export const leadWord = (lead: number): string => `lead${lead}`;

/**
 * One vote is given at the start. The agent sees the leading answer's lead, `lead2`. "ask" adds a vote, "answer" gives the
 * leading answer and ends the episode; any other action wastes a turn.
 */
export function votes(options: VotesOptions = {}): Environment {
  const { turns = 24, questions = 200, reliable = 0.4, evidence = "task", seed = 1 } = options;
  const heardFrom = (stream: Random, truth: number): number[] =>
    Array.from({ length: votesInAll }, () =>
      stream.next() < reliable ? truth : (truth + 1 + stream.below(answers - 1)) % answers,
    );
  const splits = ["train", "test"];
  const taskAt = (split: string, index: number): Task => {
    for (let trial = 0; ; trial++) {
      const stream = randomStream(seed).split(split, index, trial);
      const truth = stream.below(answers);
      const given = heardFrom(stream, truth);
      const task: Task = {
        id: `votes/${split}/${index}`,
        prompt: [{ role: "user", content: leadWord(1) }],
        metadata: { truth, given },
        seed: stream.seed,
      };
      if (rightVotes(task) !== undefined) return task;
    }
  };
  const start = (task: Task, given: readonly number[]): Episode => {
    let heard = 1;
    let turn = 0;
    let ended = false;
    return {
      async observe() {
        const content = leadWord(leaderAfter(task, heard, given).lead);
        const messages = turn === 0 ? [] : [{ role: "user" as const, content }];
        return { role: "agent", observation: { messages, stateKey: content, legal: ["ask", "answer"] } };
      },
      async act({ content }): Promise<Step> {
        if (ended) return alreadyOver;
        turn++;
        const said = content.trim();
        if (said === "answer") {
          ended = true;
          const success = leaderAfter(task, heard, given).right;
          const reason = success ? "right" : "wrong";
          return { rewards: { outcome: Number(success) }, end: { kind: "done", reason, success } };
        }
        if (said === "ask") heard++;
        ended = turn >= turns;
        return {
          rewards: { outcome: 0 },
          ...(ended && { end: { kind: "truncated", limit: "turns", at: turn } as const }),
        };
      },
    };
  };
  return defineEnvironment({
    name: "votes",
    summary: "ask unreliable witnesses one by one, and answer when enough of them agree",
    abilities: new Set<Ability>([
      "stateKey",
      "legal",
      ...(evidence === "task" ? (["replay", "expert"] as const) : []),
    ]),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [
      "ask",
      "answer",
      ...Array.from({ length: largestLead + 1 }, (_, lead) => leadWord(lead)),
    ],
    tasks: (split) =>
      splits.includes(split) ? Array.from({ length: questions }, (_, i) => taskAt(split, i)) : [],
    start: async (task, random) => {
      const own =
        evidence === "episode" ? heardFrom(random.split("votes"), Number(task.metadata.truth)) : undefined;
      return start(task, own ?? (task.metadata.given as readonly number[]));
    },
    expert: (task, conversation) =>
      conversation.filter((m) => m.role === "assistant").length + 1 < rightVotes(task)! ? "ask" : "answer",
    async verify(_task, { turns: played }) {
      return { outcome: played.reduce((sum, turn) => sum + (turn.rewards.outcome ?? 0), 0) };
    },
  });
}

/** The least number of votes after which the leading answer is right. */
function rightVotes(task: Task): number | undefined {
  for (let n = 1; n <= solvedWithin; n++) if (leaderAfter(task, n).right) return n;
  return undefined;
}
