import type { Feedback } from "../../../core/slots.ts";
import { paid, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link progressive}. */
export interface ProgressiveOptions {
  /** r1: reward of an episode whose calls can be read and whose answer has the wrong form. Default 0.1. */
  readonly readable?: number;
  /** r2: reward of an answer of the right form without any quality; r1 < r2 < 1. Default 0.2. */
  readonly formed?: number;
}

/**
 * Quality of a short answer in [0, 1], a BLEU whose n-gram order adapts to the reference:
 *
 *     exp(min(0, 1 − |ref|/|hyp|)) · exp(1/n Σ_{k ≤ n} ln p[k]),   n = min(4, |ref|, |hyp|)
 *     p[k] = (clipped matches of k-grams + ε) / (k-grams of the answer + ε),   ε = 1e-9
 *
 * 0 for an empty answer or reference.
 */
export function shortAnswerQuality(answer: string, reference: string): number {
  const [hyp, ref] = [answer, reference].map((text) => text.split(/\s+/).filter(Boolean)) as [
    string[],
    string[],
  ];
  const n = Math.min(4, ref.length, hyp.length);
  if (n === 0) return 0;
  let logs = 0;
  for (let k = 1; k <= n; k++) {
    const wanted = gramsOf(ref, k);
    const given = gramsOf(hyp, k);
    let matches = 0;
    for (const [gram, count] of given) matches += Math.min(count, wanted.get(gram) ?? 0);
    logs += Math.log((matches + tiny) / (hyp.length - k + 1 + tiny)) / n;
  }
  return Math.exp(Math.min(0, 1 - ref.length / hyp.length)) * Math.exp(logs);
}

const tiny = 1e-9;

function gramsOf(words: readonly string[], k: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i + k <= words.length; i++) {
    const gram = words.slice(i, i + k).join(" ");
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

/** Names of the environment's rewards for the two gates: 0 shuts one, and a reward that is absent leaves it open. */
const gates = { call: "executable", form: "format" } as const;

/**
 * Progressive reward: later stages count only once the earlier ones pass.
 *
 *     R = 0                   where a call could not be read (a turn's reward `executable` is 0)
 *     R = r1                  where the answer has the wrong form (a turn's reward `format` is 0)
 *     R = r2 + (1 − r2) Q     else
 *
 * Q is the largest of the environment's outcome in [0, 1] and, where the task has a reference, the {@link shortAnswerQuality} of
 * the last action. The two gates' rewards count in no outcome. One signal per trajectory, none for a failed one.
 * Paper: "Enhancing Agentic RL with Progressive Reward Shaping and Value-based Sampling Policy Optimization".
 */
export function progressive({ readable = 0.1, formed = 0.2 }: ProgressiveOptions = {}): Feedback {
  return async (ctx, { trajectories }) =>
    trajectories.flatMap((t) => {
      if (t.end.kind === "failed") return [];
      const { reference } = ctx.task(t.task);
      const value = staged(t, reference, { readable, formed });
      return [
        { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "progressive" },
      ];
    });
}

function staged(
  t: Trajectory,
  reference: string | undefined,
  { readable, formed }: { readonly readable: number; readonly formed: number },
): number {
  const fails = (gate: string): boolean => t.turns.some(({ rewards }) => rewards[gate] === 0);
  if (fails(gates.call)) return 0;
  if (fails(gates.form)) return readable;
  const gated = t.turns.reduce(
    (sum, { rewards }) => sum + (rewards[gates.call] ?? 0) + (rewards[gates.form] ?? 0),
    0,
  );
  const outcome = Math.min(1, Math.max(0, paid(t) - gated));
  const answer = t.turns.at(-1)?.action.content ?? "";
  const graded = reference === undefined ? 0 : shortAnswerQuality(answer, reference);
  return formed + (1 - formed) * Math.max(outcome, graded);
}
