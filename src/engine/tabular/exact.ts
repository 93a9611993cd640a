/** Exact expectations by enumeration, to check sampled estimators against. */
import { concatIds } from "../../common/tokens/sequence.ts";
import type { TabularModel } from "./model.ts";

/** Numbers by context, [writable tokens] each. */
export type ByContext = Map<string, Float64Array>;

/** One possible action with its probability and the gradient of its log-probability. */
export interface Possible {
  readonly action: Int32Array;
  readonly probability: number;
  readonly score: ByContext;
}

/** Adds `factor` times `more` into `into`. */
export function addScaled(into: ByContext, more: ByContext, factor: number): void {
  for (const [context, xs] of more) {
    const out = into.get(context) ?? new Float64Array(xs.length);
    xs.forEach((x, w) => {
      out[w]! += factor * x;
    });
    into.set(context, out);
  }
}

/** Every action that can follow a prompt, up to its end or `maxTokens`; probabilities sum to 1. */
export function possibleActions(model: TabularModel, prompt: Int32Array, maxTokens: number): Possible[] {
  const { weights, codec } = model;
  const grow = (before: Possible): Possible[] => {
    const situation = weights.situationOf(concatIds([prompt, before.action]));
    const { logp_W } = weights.distribution(situation);
    return Array.from(logp_W).flatMap((lp, w) => {
      const own = logp_W.map((x, j) => (j === w ? 1 : 0) - Math.exp(x));
      const score: ByContext = new Map(situation.rows.map((row) => [row, own]));
      addScaled(score, before.score, 1);
      const id = codec.writable + w;
      const now: Possible = {
        action: concatIds([before.action, Int32Array.of(id)]),
        probability: before.probability * Math.exp(lp),
        score,
      };
      return id === codec.endId || now.action.length >= maxTokens ? [now] : grow(now);
    });
  };
  return grow({ action: new Int32Array(), probability: 1, score: new Map() });
}

/** The continuation after the actions so far: the next prompt, or the end with its reward. */
export type Continuation = { readonly prompt: Int32Array } | { readonly reward: number };

/**
 * The expected reward of a small environment and its gradient with respect to the logits, exactly:
 *
 *     E[R] = Σ_actions P R        ∇E[R] = Σ_actions P R ∇ ln P
 *
 * @param next the environment as a function of the actions so far; called for every sequence of them.
 * @param maxTokens longest action of a turn.
 */
export async function exactPolicyGradient(
  model: TabularModel,
  next: (actions: readonly Int32Array[]) => Continuation | Promise<Continuation>,
  maxTokens: number,
): Promise<{ readonly expected: number; readonly gradient: ByContext }> {
  const gradient: ByContext = new Map();
  let expected = 0;
  const visit = async (
    actions: readonly Int32Array[],
    probability: number,
    score: ByContext,
  ): Promise<void> => {
    const now = await next(actions);
    if ("reward" in now) {
      expected += probability * now.reward;
      addScaled(gradient, score, probability * now.reward);
      return;
    }
    for (const possible of possibleActions(model, now.prompt, maxTokens)) {
      const both: ByContext = new Map();
      addScaled(both, score, 1);
      addScaled(both, possible.score, 1);
      await visit([...actions, possible.action], probability * possible.probability, both);
    }
  };
  await visit([], 1, new Map());
  return { expected, gradient };
}
