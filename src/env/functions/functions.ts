/** Small JavaScript functions, graded by calls inside the sandbox: errors and the first wrong result come back in words. */
import type { Json } from "../../core/json.ts";
import { randomStream, shuffled } from "../../core/random.ts";
import type { Task } from "../../core/types.ts";
import {
  type JavaScriptOutcome,
  type JavaScriptSandbox,
  javaScriptSandbox,
} from "../../sandbox/javascript.ts";
import { inWords } from "../../sandbox/outcome.ts";
import type { Environment } from "../environment.ts";
import { codeIn } from "../fenced.ts";
import { slipping, type Tried, tried } from "../tries.ts";
import { type Family, families } from "./families.ts";

/** Settings of {@link functions}. */
export interface FunctionsOptions {
  /** Programs until the episode is over. Default 4. */
  readonly turns?: number;
  /** Pay `passed` as well. Default false. */
  readonly partial?: boolean;
}

const callsShown = 2;
const callsHidden = 6;

/** One for all episodes of this process, begun with the first program. */
let shared: JavaScriptSandbox | undefined;
const run = (source: string, calls: readonly string[]): Promise<JavaScriptOutcome> =>
  (shared ??= javaScriptSandbox()).run({ scripts: [source, ...calls] });
/** What the solutions return, by task. */
const wanted = new Map<string, Promise<JavaScriptOutcome>>();

const callsOf = (task: Task): readonly string[] => task.metadata.calls as readonly string[];

async function grade(task: Task, reply: string): Promise<Tried> {
  const calls = callsOf(task);
  const solution = task.reference ?? "";
  const right = wanted.get(solution + calls) ?? run(solution, calls);
  wanted.set(solution + calls, right);
  const [got, want] = await Promise.all([run(codeIn(reply), calls), right]);
  // the first value is the program's own; what is wanted never enters the program's world
  const results = got.values.slice(1);
  const fine = calls.map((_, i) => results[i] !== undefined && results[i] === want.values[i + 1]);
  const first = fine.indexOf(false);
  const outcome = first < 0 ? 1 : 0;
  const rewards = { outcome, passed: fine.filter(Boolean).length / calls.length } as const;
  if (first < 0) return { rewards, text: "right" };
  if (got.kind !== "ok" && first === results.length) {
    const where =
      got.values.length === 0
        ? "before any call"
        : first < callsShown
          ? `in ${calls[first]}`
          : "in a further call";
    return { rewards, text: `${where}: ${inWords(got)}` };
  }
  const text =
    first < callsShown
      ? `${calls[first]} returned ${results[first]?.slice(0, 200)} instead of ${want.values[first + 1]}`
      : `the calls shown are right, a further one is not: ${first} of ${calls.length} passed before it`;
  return { rewards, text };
}

const instructions =
  "Write a JavaScript function named solve. Reply with its code alone. It is run in a bare JavaScript engine, without files, network or clock.";

interface Written {
  readonly family: Family;
  readonly parameter: string | number;
}

const allOf = (seen: boolean): readonly Written[] =>
  families
    .filter((family) => family.seen === seen)
    .flatMap((family) => family.parameters.map((parameter) => ({ family, parameter })));

/** Of the functions of trained families, in a fixed mixture. */
const parts: Readonly<Record<string, readonly [from: number, to: number]>> = {
  train: [0, 55],
  validation: [55, 70],
  test: [70, 91],
};

function taskOf({ family, parameter }: Written, split: string): Task {
  const stream = randomStream("functions").split(family.name, parameter);
  const calls = Array.from({ length: callsShown + callsHidden }, (_, i) => {
    const inputs = family.inputs(stream.split("call", i));
    return `solve(${inputs.map((x) => JSON.stringify(x)).join(", ")})`;
  });
  const shown = calls.slice(0, callsShown).join("\n");
  return {
    id: `functions/${split}/${family.name} ${parameter}`,
    prompt: [
      { role: "system", content: instructions },
      { role: "user", content: `${family.says(parameter)}\nIt will be called like this:\n${shown}` },
    ],
    reference: family.solution(parameter),
    metadata: { calls, slip: family.slip(parameter), family: family.name } satisfies Record<string, Json>,
    seed: stream.seed,
  };
}

function tasksOf(split: string): readonly Task[] {
  if (split === "unseen-functions") return allOf(false).map((written) => taskOf(written, split));
  const [from, to] = parts[split] ?? [0, 0];
  const mixed = shuffled(allOf(true), randomStream("functions").split("order"));
  return mixed.slice(from, to).map((written) => taskOf(written, split));
}

/**
 * Each turn is a program that defines `solve`; it is called with the arguments of two calls that the task shows and six
 * that it does not. The first program that is right in all of them ends the episode; after others what is seen next is the
 * runtime's own error and where it came up, or the first wrong result (after the last turn it is the step's text). Results
 * are compared outside the sandbox, so that a program cannot see what is wanted.
 *
 * Rewards: `outcome` 1 or 0 at the end, and where asked for `passed` every turn, the share of calls that returned what is wanted. Functions
 * are families with a parameter; two families are only in the split "unseen-functions". The flawed player makes the usual
 * mistake in three of five tasks. No vocabulary: a program is free text, for models with a tokenizer of their own, or of bytes.
 */
export function functions(options: FunctionsOptions = {}): Environment {
  const { turns = 4, partial = false } = options;
  return tried({
    name: "functions",
    summary: "write small JavaScript functions that are run; errors and wrong results come back in words",
    splits: [...Object.keys(parts), "unseen-functions"],
    turns,
    actionTokens: 300,
    tasks: tasksOf,
    grade,
    partial,
    flawed: slipping,
  });
}
