import { actionRows } from "../../../common/tokens/pack.ts";
import { turnOffsets } from "../../../common/tokens/tokenRanges.ts";
import type { Annotate } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link logRatios}. */
export interface LogRatiosOptions {
  /** The model whose probabilities are compared with the behaviour policy's. */
  readonly of: { readonly model: string } | { readonly frozen: string };
  /** Floor on the behaviour probability of a token, in (0, 1]. Default 0.01. */
  readonly floor?: number;
  /** Name of the note. Default: the model's name and `.ratio`. */
  readonly note?: string;
}

/**
 * Log-ratio of another model's to the behaviour policy's probability of the actions, in nats per turn:
 *
 *     ratio[k] = Σ_a ln p(a) − ln max(b(a), floor)          over the action tokens of turn k, b: the distribution drawn from
 *
 * The floor bounds the weight of a rare action. A turn without tokens, or of unknown propensity, is NaN.
 * Paper: "Two-Stage Constrained Actor-Critic for Short Video Recommendation".
 */
export function logRatios(options: LogRatiosOptions): Annotate {
  const { of, floor = 0.01 } = options;
  const name = "model" in of ? of.model : of.frozen;
  return async (ctx, { trajectories }) => {
    const scorer = "model" in of ? ctx.model(of.model) : ctx.frozen(of.frozen);
    const noted = await Promise.all(
      trajectories.map(async (t): Promise<[Id, Float32Array]> => {
        const { logp } = await scorer.score(actionRows(t));
        const offsets = turnOffsets(t);
        const ratios = t.turns.map(({ tokens }, k) => {
          if (!tokens || tokens.action.length === 0) return Number.NaN;
          return tokens.behaviour.reduce(
            (sum, drawn, a) => sum + logp[offsets[k]! + a]! - Math.max(drawn, Math.log(floor)),
            0,
          );
        });
        return [t.id, Float32Array.from(ratios)];
      }),
    );
    return { [options.note ?? `${name}.ratio`]: new Map(noted) };
  };
}
