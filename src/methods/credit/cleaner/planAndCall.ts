/** A plan, then a call that must be well-formed; malformed calls may be tried again. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link planAndCall}. */
export interface PlanAndCallOptions {
  /** Operations, each the right one for one task. Default 4. */
  readonly operations?: number;
  /** Words that may follow an operation. Default 8. */
  readonly words?: number;
  /** How many of them are well-formed at each of the two places after the operation. Default 3. */
  readonly valid?: number;
  /** Calls in all. Default 4. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The well-formed words at both places after the operation. */
export const syntaxOf = (task: Task): readonly (readonly string[])[] =>
  task.metadata.syntax as readonly (readonly string[])[];

/**
 * The task `task t2` expects `plan2 <tool_call> op2 w1 w6`: a plan that is not checked, the operation of the same number,
 * and two words, of which only some are well-formed (the same for every task). A malformed call is answered by
 * `error task t2` and may be tried again; a well-formed one ends the episode and pays 1 for the right operation.
 */
export function planAndCall(options: PlanAndCallOptions = {}): Environment {
  const { operations = 4, words = 8, valid = 3, turns = 4, seed = 1 } = options;
  const all = Array.from({ length: words }, (_, i) => `w${i}`);
  const syntax = [0, 1].map((place) =>
    shuffled(all, randomStream(seed).split("syntax", place)).slice(0, valid).sort(),
  );
  const numbers = Array.from({ length: operations }, (_, i) => i);
  const tasks = numbers.map(
    (number): Task => ({
      id: `plan-and-call/${number}`,
      prompt: [{ role: "user", content: `task t${number}` }],
      reference: `op${number}`,
      metadata: { number, syntax },
      seed: number,
    }),
  );
  const isWellFormed = (call: readonly string[]): boolean =>
    call.length === 5 &&
    /^plan\d+ <tool_call> op\d+ /.test(call.join(" ")) &&
    syntax.every((fits, place) => fits.includes(call[3 + place]!));
  /** Reward of the episode's first well-formed call; undefined while there is none. */
  const paid = (task: Task, calls: readonly string[]): number | undefined => {
    const call = calls.map((text) => text.trim().split(/\s+/)).find(isWellFormed);
    return call && Number(call[2] === task.reference);
  };
  function start(task: Task): Episode {
    const calls: string[] = [];
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: calls.length > 0 ? [{ role: "user", content: `error ${task.prompt[0]!.content}` }] : [],
          stateKey: task.id,
        },
      }),
      act: async ({ content }) => {
        const outcome = paid(task, [content]);
        calls.push(content);
        if (outcome !== undefined) {
          const reason = outcome === 1 ? "right" : "wrong operation";
          return { rewards: { outcome }, end: { kind: "done", reason, success: outcome === 1 } };
        }
        if (calls.length < turns) return { text: "malformed" };
        const end = { kind: "done", reason: "never well-formed", success: false } as const;
        return { rewards: { outcome: 0 }, text: "malformed", end };
      },
    };
  }

  return defineEnvironment({
    name: "plan-and-call",
    summary: "plan, then call the right operation in well-formed words; malformed calls may be tried again",
    abilities: new Set(["expert", "replay", "stateKey"]),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns, actionTokens: 5 },
    vocabulary: () => [
      "task error malformed <tool_call>",
      ...all,
      ...numbers.flatMap((n) => [`t${n}`, `plan${n}`, `op${n}`]),
    ],
    tasks: (split) => (split === "train" ? tasks : []),
    expert: ({ metadata }) =>
      `plan${metadata.number} <tool_call> op${metadata.number} ${syntax[0]![0]} ${syntax[1]![0]}`,
    start: async (task) => start(task),
    async verify(task: Task, trajectory: Trajectory) {
      const calls = trajectory.turns.map((turn) => turn.action.content);
      return { outcome: paid(task, calls) ?? 0 };
    },
  });
}
