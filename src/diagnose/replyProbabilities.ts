/** What a policy would say, exactly, where all that matters can be listed. */

import { pairRows } from "../common/tokens/pack.ts";
import type { Model } from "../core/model.ts";
import type { Task } from "../core/types.ts";

/** Probability of each of these replies to a task's prompt, in 0…1; a reply's further words are not counted in. */
export async function replyProbabilities(
  policy: Pick<Model, "codec" | "score">,
  task: Task,
  replies: readonly string[],
): Promise<Float64Array> {
  const prompt = policy.codec.open(task.prompt);
  const rows = pairRows(replies.map((reply) => ({ prompt, target: policy.codec.encode(reply) })));
  const { logp } = await policy.score(rows);
  return Float64Array.from(replies, (_, r) =>
    Math.exp(logp.subarray(rows.targetOffset[r], rows.targetOffset[r + 1]).reduce((a, b) => a + b, 0)),
  );
}

/** Σ_y π(y | task) · value(y) over these replies. */
export async function expectedValue(
  policy: Pick<Model, "codec" | "score">,
  task: Task,
  replies: readonly string[],
  value: (reply: string, index: number) => number,
): Promise<number> {
  const p = await replyProbabilities(policy, task, replies);
  return p.reduce((sum, chance, i) => sum + chance * value(replies[i]!, i), 0);
}

/** Mean over tasks of what each comes to. */
export async function meanOver(tasks: readonly Task[], of: (task: Task) => Promise<number>): Promise<number> {
  let sum = 0;
  for (const task of tasks) sum += await of(task);
  return sum / tasks.length;
}
