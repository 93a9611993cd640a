import { sigmoid } from "../common/statistics/logistic.ts";
import { pairRows } from "../common/tokens/pack.ts";
import type { Model } from "../core/model.ts";
import type { Message } from "../core/types.ts";

/** The two answers to a question of {@link yesProbability}. */
export const yesAndNo = { yes: "YES", no: "NO" } as const;

/**
 * The probability that a model answers YES to a conversation, among YES and NO, whatever else it might say, without sampling or gradient:
 *
 *     exp(l_yes) / (exp(l_yes) + exp(l_no))          l: ln p of the word after the messages
 *
 * @returns undefined where the conversation is too long for the model.
 */
export async function yesProbability(
  model: Model,
  messages: readonly Message[],
): Promise<number | undefined> {
  const { codec } = model;
  const prompt = codec.open(messages);
  const targets = [codec.encode(yesAndNo.yes), codec.encode(yesAndNo.no)];
  if (prompt.length + Math.max(...targets.map((t) => t.length)) > model.contextTokens) return undefined;
  const rows = pairRows(targets.map((target) => ({ prompt, target })));
  const { logp } = await model.score(rows);
  const of = (row: number): number =>
    logp.subarray(rows.targetOffset[row], rows.targetOffset[row + 1]).reduce((a, b) => a + b, 0);
  return sigmoid(of(0) - of(1));
}
