/** Documents to read before one call: the call succeeds if the right documents were read first. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
  type Step,
} from "../../../env/environment.ts";

/** Settings of {@link documents}. */
export interface DocumentsOptions {
  /** Number of training jobs; as many others are held out. Default 4. */
  readonly jobs?: number;
  /** Documents on the desk. Default 12. */
  readonly documents?: number;
  /** Documents that a job's call needs. Default 2. */
  readonly needed?: number;
  /** Actions until the desk is cleared. Default 5. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The documents that a task's call needs. */
export const neededBy = (task: Task): readonly string[] => task.metadata.needed as readonly string[];

const call = "call";

/**
 * Every job has its own word, `job3`. An action is the name of a document (`d5`), which is then read, or `call`, which
 * ends the episode; its reward is the share of tests that pass: the square of the share of needed documents that were
 * read. The agent sees the job and which of its documents were read, so the last message is the state.
 */
export function documents(options: DocumentsOptions = {}): Environment {
  const { jobs = 4, documents: count = 12, needed = 2, turns = 5, seed = 1 } = options;
  const names = Array.from({ length: count }, (_, i) => `d${i}`);
  const splits = ["train", "test"] as const;

  function taskAt(split: string, index: number): Task {
    const number = split === "train" ? index : jobs + index;
    const random = randomStream(seed).split("job", number);
    return {
      id: `documents/${split}/${index}`,
      prompt: [{ role: "user", content: `job${number} : nothing` }],
      metadata: { job: `job${number}`, needed: shuffled(names, random).slice(0, needed).sort() },
      seed: random.seed,
    };
  }

  const view = (task: Task, read: ReadonlySet<string>): string => {
    const held = neededBy(task).filter((d) => read.has(d));
    return `${task.metadata.job} : ${held.length === 0 ? "nothing" : held.join(" ")}`;
  };
  const passed = (task: Task, read: ReadonlySet<string>): number =>
    (neededBy(task).filter((d) => read.has(d)).length / needed) ** 2;

  function start(task: Task): Episode {
    const read = new Set<string>();
    let turn = 0;
    let ended = false;
    return {
      async observe() {
        const messages = turn === 0 ? [] : [{ role: "user" as const, content: view(task, read) }];
        return {
          role: "agent",
          observation: { messages, stateKey: view(task, read), legal: [...names, call] },
        };
      },
      async act(action): Promise<Step> {
        if (ended) return alreadyOver;
        turn++;
        const said = action.content.trim();
        if (said === call) {
          ended = true;
          const outcome = passed(task, read);
          return { rewards: { outcome }, end: { kind: "done", reason: "called", success: outcome === 1 } };
        }
        if (names.includes(said)) read.add(said);
        ended = turn >= turns;
        return ended ? { rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turn } } : {};
      },
    };
  }

  const expert: Player = (task, conversation) => {
    const said = new Set(conversation.filter((m) => m.role === "assistant").map((m) => m.content));
    return neededBy(task).find((d) => !said.has(d)) ?? call;
  };

  return defineEnvironment({
    name: "documents",
    summary: "read the documents that a job needs, then make its call once",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 1 },
    tasks: (split) =>
      splits.some((s) => s === split) ? Array.from({ length: jobs }, (_, i) => taskAt(split, i)) : [],
    start: async (task) => start(task),
    vocabulary: () => [...names, call, ": nothing", ...Array.from({ length: 2 * jobs }, (_, i) => `job${i}`)],
    expert,
    async verify(task: Task, trajectory: Trajectory) {
      const read = new Set<string>();
      for (const { action } of trajectory.turns.slice(0, turns)) {
        if (action.content.trim() === call) return { outcome: passed(task, read) };
        read.add(action.content.trim());
      }
      return { outcome: 0 };
    },
  });
}
