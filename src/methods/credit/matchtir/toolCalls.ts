/** Jobs that take a few exact tool calls, in any order, before they can be closed. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../../../env/environment.ts";

/** Settings of {@link toolCalls}. */
export interface ToolCallsOptions {
  /** Number of training jobs; as many others are held out. Default 2. */
  readonly jobs?: number;
  /** Tools to choose from. Default 8. */
  readonly tools?: number;
  /** Tools that a job needs, each called once. Default 3. */
  readonly needed?: number;
  /** Values that each of a call's two parameters can have. Default 3. */
  readonly values?: number;
  /** Actions in all, closing the job among them. Default twice the calls needed. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

/**
 * Every job has a word of its own, `job1`. `call tool4 x=2 y=0` calls a tool; a needed one that is called exactly as the
 * job asks is done, and what is done is said after each action (`job1 done tool4`). `close` ends the episode and pays 1
 * if everything needed is done. The right calls stand in the task's metadata, `calls`, as `{ name, arguments }`.
 */
export function toolCalls(options: ToolCallsOptions = {}): Environment {
  const { jobs = 2, tools = 8, needed = 3, values = 3, seed = 1 } = options;
  const { turns = 2 * needed } = options;
  const splits = ["train", "test"];
  const names = Array.from({ length: tools }, (_, i) => `tool${i}`);

  function taskAt(split: string, index: number): Task {
    const number = splits.indexOf(split) * jobs + index;
    const random = randomStream(seed).split("job", number);
    const calls = shuffled(names, random)
      .slice(0, needed)
      .sort()
      .map((name) => ({ name, arguments: { x: `${random.below(values)}`, y: `${random.below(values)}` } }));
    return {
      id: `tool-calls/${number}`,
      prompt: [{ role: "user", content: `job${number} done` }],
      reference: calls.map(written).join(" ; "),
      metadata: { calls },
      seed: random.seed,
    };
  }

  const said = (task: Task, done: ReadonlySet<string>): string =>
    [task.prompt[0]!.content, ...callsOf(task).flatMap((c) => (done.has(c.name) ? [c.name] : []))].join(" ");

  function start(task: Task): Episode {
    const done = new Set<string>();
    let turn = 0;
    let over = false;
    return {
      observe: async () => {
        const state = said(task, done);
        return {
          role: "agent",
          observation: { messages: turn === 0 ? [] : [{ role: "user", content: state }], stateKey: state },
        };
      },
      act: async ({ content }): Promise<Step> => {
        if (over) return alreadyOver;
        turn++;
        const action = content.trim();
        if (action === "close") {
          over = true;
          turn = turns;
          const success = done.size === needed;
          return { rewards: { outcome: success ? 1 : 0 }, end: { kind: "done", reason: "closed", success } };
        }
        const right = callsOf(task).find((call) => written(call) === action);
        if (right) done.add(right.name);
        over = turn >= turns;
        return over ? { rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turn } } : {};
      },
    };
  }

  return defineEnvironment({
    name: "tool-calls",
    summary: "make the few exact tool calls that a job needs, then close it",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 4 },
    tasks: (split) =>
      splits.includes(split) ? Array.from({ length: jobs }, (_, index) => taskAt(split, index)) : [],
    start: async (task) => start(task),
    vocabulary: () => [
      "done call close ;",
      ...names,
      ...Array.from({ length: values }, (_, v) => `x=${v} y=${v}`),
      ...Array.from({ length: 2 * jobs }, (_, j) => `job${j}`),
    ],
    expert: (task, conversation) => {
      const state = conversation.findLast((m) => m.role === "user")?.content.split(" ") ?? [];
      const next = callsOf(task).find(({ name }) => !state.includes(name));
      return next ? written(next) : "close";
    },
    async verify(task: Task, trajectory: Trajectory) {
      const actions = trajectory.turns.map((turn) => turn.action.content.trim());
      const closed = actions.slice(0, turns).indexOf("close");
      const made = new Set(actions.slice(0, Math.max(0, closed)));
      return { outcome: closed >= 0 && callsOf(task).every((call) => made.has(written(call))) ? 1 : 0 };
    },
  });
}

interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, string>>;
}

const callsOf = (task: Task): readonly Call[] => task.metadata.calls as unknown as readonly Call[];

const written = (call: Call): string =>
  ["call", call.name, ...Object.entries(call.arguments).map(([key, value]) => `${key}=${value}`)].join(" ");
