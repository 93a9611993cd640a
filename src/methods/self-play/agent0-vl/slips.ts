/** Chains of additions and multiplications that a policy often gets wrong, and a calculator that can only add. */
import { randomStream } from "../../../core/random.ts";
import type { Task, Turn } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { applied, chains } from "../../../worlds/chains.ts";
import type { Tool } from "./solverVerifier.ts";

const operations = ["plus3", "times7", "plus8", "times3"];
const base = 10;
const digits = Array.from({ length: base }, (_, v) => String(v));

/** Every step, its right value, and p of each answer at first: the right one, and one slip that is as likely for many steps. */
export interface Step {
  readonly operation: string;
  readonly value: number;
  readonly right: number;
  readonly p: readonly number[];
}
export interface Slips {
  readonly environment: Environment;
  readonly steps: readonly Step[];
  prior(context: readonly string[], word: string): number;
}

/** The right answer of a step has probability 0.35 ± 0.1 at first, and one slip of that step 0.35 ± 0.2: where it is likelier, the majority is wrong. */
export function slips(seed: number): Slips {
  const steps = operations.flatMap((operation) =>
    digits.map((_, value): Step => {
      const draw = randomStream(seed).split("slips", operation, value);
      const right = applied(operation, value, base);
      const slip = (right + 1 + draw.split("slip").below(base - 1)) % base;
      const [r, s] = [0.25 + 0.2 * draw.split("right").next(), 0.15 + 0.4 * draw.split("likely").next()];
      const p = digits.map((_unused, v) => (v === right ? r : v === slip ? s : (1 - r - s) / (base - 2)));
      return { operation, value, right, p };
    }),
  );
  const of = new Map(steps.map((step) => [`${step.operation} ${step.value}`, step]));
  return {
    environment: chains({ operations, stepRewards: false, seed }),
    steps,
    prior: (context, word) => speaks(of, context, word),
  };
}

/** The operation and value of the step that is worked at or judged, and what was said since. */
const read = (context: readonly string[]) => {
  const at = context.findLastIndex((word) => operations.includes(word));
  const since = context.slice(at + 2).filter((word) => !word.startsWith("<"));
  const judged = since.includes("RIGHT");
  const calculated = since[since.indexOf("calculator") + 1];
  const tool = since.includes("calculator") ? calculated : undefined;
  const reply = context.slice(context.lastIndexOf("<assistant>") + 1);
  return {
    step: `${context[at]} ${context[at + 1]}`,
    answer: since[0],
    asked: since.includes("Is"),
    judged,
    tool,
    reply,
  };
};

/**
 * A verifier follows its calculator in 85 % of verdicts; without one it calls an answer right the likelier the answer is to itself. A solver that is told what
 * the calculator says, says so in four of five cases, and what it is told was wrong seldom again.
 */
function speaks(of: ReadonlyMap<string, Step>, context: readonly string[], word: string): number {
  const { step, answer, asked, tool, reply } = read(context);
  const { p } = of.get(step)!;
  if (!asked) {
    if (!digits.includes(word) || reply.length > 0) return word === "<end>" && reply.length > 0 ? 0 : -1e9;
    const told = tool === word ? 4 : answer === word && context.includes("WRONG") ? -2 : 0;
    return Math.log(p[Number(word)]!) + told;
  }
  if (reply.length === 0) {
    const right =
      tool === undefined ? (0.9 * p[Number(answer)]!) / Math.max(...p) : tool === answer ? 0.85 : 0.15;
    return word === "RIGHT" ? Math.log(right) : word === "WRONG" ? Math.log(1 - right) : -1e9;
  }
  return (reply.length === 1 ? ["SURE", "UNSURE"] : ["<end>"]).includes(word) ? 0 : -1e9;
}

/** Answers are learnt for each step; verdicts by what the calculator says, and for each step and answer without it. */
export const slipsReader = (context: readonly string[]): readonly string[] => {
  const { step, answer, asked, tool, reply } = read(context);
  if (!asked) return [step];
  const seen = tool === undefined ? `${step} ${answer}` : tool === answer ? "agrees" : "disagrees";
  return [`verdict ${seen} ${reply.join(" ")}`];
};

/** Says the sum of an addition, and nothing about a multiplication. */
export const adder: Tool = (_task: Task, { prompt, action }: Turn) => {
  const [operation = "", value = ""] =
    prompt.findLast(({ content }) => operations.includes(content.split(" ")[0]!))?.content.split(" ") ?? [];
  if (!operation.startsWith("plus")) return undefined;
  const sum = String(applied(operation, Number(value), base));
  return { output: `calculator ${sum}`, agrees: action.content.trim() === sum };
};
