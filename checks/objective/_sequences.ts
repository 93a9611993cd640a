/** Policies over whole short sequences, listed exactly. */
import type { Model } from "../../src/core/model.ts";
import { pairRows } from "../../src/core/pack.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/words.ts";
import { type Prior, tabularEngine } from "../../src/engine/tabular/engine.ts";

/**
 * A table over whole prefixes whose logits begin normally distributed; words that match `never` are not written.
 * @param deviation of the logits.
 */
export function scattered(
  seed: number,
  deviation: number,
  { never = /^(<end>|q\d+)$/, bias }: { readonly never?: RegExp; readonly bias?: Prior } = {},
) {
  const stream = randomStream(seed).split("logits");
  const prior: Prior = (context, word) =>
    never.test(word)
      ? -1e9
      : deviation * stream.split(context.join(" "), word).normal() + (bias?.(context, word) ?? 0);
  return tabularEngine({ prior });
}

/** Exact probability of each answer to a task. */
export async function probabilities(
  policy: Model,
  task: Task,
  answers: readonly string[],
): Promise<Float64Array> {
  const prompt = policy.codec.open(task.prompt);
  const rows = pairRows(answers.map((answer) => ({ prompt, target: policy.codec.encode(answer) })));
  const { logp } = await policy.score(rows);
  return Float64Array.from(answers, (_, r) => {
    let sum = 0;
    for (let a = rows.targetOffset[r]!; a < rows.targetOffset[r + 1]!; a++) sum += logp[a]!;
    return Math.exp(sum);
  });
}

/** Σ_y π(y | task) · value(y). */
export async function expected(
  policy: Model,
  task: Task,
  answers: readonly string[],
  value: (answer: string) => number,
): Promise<number> {
  const p = await probabilities(policy, task, answers);
  return answers.reduce((sum, answer, i) => sum + p[i]! * value(answer), 0);
}

/** Mean over tasks of what each comes to. */
export async function meanOver(tasks: readonly Task[], of: (task: Task) => Promise<number>): Promise<number> {
  let sum = 0;
  for (const task of tasks) sum += await of(task);
  return sum / tasks.length;
}
