/** Chained arithmetic: a problem in steps, each with an answer that can be checked. */
import { WhetstoneError } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import { succeeded, type Task, type Trajectory } from "../core/types.ts";
import { critiqueWords, templated, wholeAction } from "../env/critiques.ts";
import { defineEnvironment, type Environment, type Episode } from "../env/environment.ts";

/** Settings of {@link chains}. */
export interface ChainsOptions {
  /** Operations of a step, each `plusN` or `timesN`. Default plus3, times7, plus8, times3. */
  readonly operations?: readonly string[];
  /** Steps of a chain. Default: one for each operation. */
  readonly steps?: number;
  /** "fixed": step k does operation k in every task, from the first again when they run out. Default "drawn" per task. */
  readonly order?: "fixed" | "drawn";
  /** Whether every right answer gets the reward `step`; false gives only the last one's `outcome`. Default true. */
  readonly stepRewards?: boolean;
  /** Values are 0 to base − 1. Default 10. */
  readonly base?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The right value after each step of a task. */
export const valuesOf = (task: Task): readonly number[] => task.metadata.values as readonly number[];

const operationsOf = (task: Task): readonly string[] => task.metadata.operations as readonly string[];

/** Applies an operation to a value. @throws WhetstoneError `config.invalid` for an operation in another format. */
export function applied(operation: string, value: number, base: number): number {
  const [, kind, operand] = /^(plus|times)(\d+)$/.exec(operation) ?? [];
  if (kind === undefined) {
    throw new WhetstoneError("config.invalid", {
      where: "environment chains: operations",
      got: JSON.stringify(operation),
      expected: "plusN or timesN",
      fix: "Name each operation as plus or times with a whole number, such as plus3.",
    });
  }
  return (kind === "plus" ? value + Number(operand) : value * Number(operand)) % base;
}

const sizes: Readonly<Record<string, number>> = { train: 100, validation: 50, test: 100 };

/**
 * One turn per step: the observation is the operation and the current value, which is the agent's own last answer; the agent
 * replies with the next value. An invalid value ends the chain.
 *
 * Rewards: `step` every turn, 1 where the answer equals that of the right chain, else 0; `outcome` 1 or 0 at the end.
 */
export function chains(options: ChainsOptions = {}): Environment {
  const {
    operations = ["plus3", "times7", "plus8", "times3"],
    order = "drawn",
    base = 10,
    seed = 1,
  } = options;
  const { steps = operations.length, stepRewards = true } = options;
  const digits = Array.from({ length: base }, (_, v) => String(v));

  const paid = (step: number): Readonly<Record<string, number>> => (stepRewards ? { step } : {});

  function taskAt(split: string, index: number): Task {
    const stream = randomStream(seed).split("chain", split, index);
    const start = stream.below(base);
    const chosen = Array.from(
      { length: steps },
      (_, k) => operations[order === "fixed" ? k % operations.length : stream.below(operations.length)]!,
    );
    const values: number[] = [];
    for (const operation of chosen) values.push(applied(operation, values.at(-1) ?? start, base));
    return {
      id: `chains/${split}/${index}`,
      prompt: [{ role: "user", content: `start ${start} then ${chosen.join(" ")}` }],
      reference: String(values.at(-1)),
      metadata: { start, operations: chosen, values },
      seed: stream.seed,
    };
  }

  function start(task: Task): Episode {
    let answers: readonly number[] = [];
    return {
      async observe() {
        const value = answers.at(-1) ?? Number(task.metadata.start);
        const content = `${operationsOf(task)[answers.length]} ${value}`;
        return {
          role: "agent",
          observation: { messages: [{ role: "user", content }], stateKey: content, legal: digits },
        };
      },
      async act({ content }) {
        const k = answers.length;
        const said = content.trim();
        if (!digits.includes(said)) {
          return {
            rewards: { ...paid(0), outcome: 0 },
            end: { kind: "done", reason: "no value", success: false },
          };
        }
        answers = [...answers, Number(said)];
        const right = Number(said) === valuesOf(task)[k];
        const value = right ? 1 : 0;
        if (k + 1 < operationsOf(task).length) return { rewards: paid(value) };
        return {
          rewards: { ...paid(value), outcome: value },
          end: { kind: "done", reason: right ? "right" : "wrong", success: right },
        };
      },
    };
  }

  return defineEnvironment({
    name: "chains",
    summary: "chained arithmetic modulo ten, one step a turn; every step can be checked",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "validation", "test"],
    limits: { turns: steps, actionTokens: 1 },
    vocabulary: () => ["start", "then", ...operations, ...digits],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    start: async (task) => start(task),
    expert: (task, conversation) =>
      String(valuesOf(task)[conversation.filter((m) => m.role === "assistant").length] ?? 0),
    critiqueVocabulary: () => critiqueWords(steps),
    async critique(task, trajectory, request) {
      const parts = trajectory.turns.slice(0, steps).map(({ action }, k) => {
        const said = action.content.trim();
        const better = String(valuesOf(task)[k]);
        const worse = digits.filter((digit) => digit !== better && digit !== said);
        return {
          ...wholeAction(k, action.content),
          good: said === better,
          name: `step ${k + 1}`,
          better,
          worse,
        };
      });
      return templated({ outcome: succeeded(trajectory) ? "success" : "failure", parts }, request);
    },
    async verify(task: Task, { turns }: Trajectory) {
      const last = turns.at(-1)?.action.content.trim();
      return { outcome: turns.length === steps && last === task.reference ? 1 : 0 };
    },
  });
}
