import { pairRows } from "../../../common/tokens/pack.ts";
import { concatIds } from "../../../common/tokens/sequence.ts";
import { present } from "../../../core/errors.ts";
import type { Annotate } from "../../../core/slots.ts";
import type { Message, Turn } from "../../../core/types.ts";

/** Settings of {@link replyInfluence}. */
export interface ReplyInfluenceOptions {
  /** Replacement for a message that the environment sent after the turn. Default: an empty message. */
  readonly placeholder?: (reply: Message, asking: Turn) => string;
  /** Default "influence". */
  readonly note?: string;
}

/**
 * How much the reply to each turn changes the likelihood of the next action:
 *
 *     I[k] = (1/|a[k + 1]|) Σ_j ( ln π(a[k + 1, j] | …, o[k]) − ln π(a[k + 1, j] | …, õ[k]) )
 *
 * a[k + 1] is the next action as it was sampled, o[k] the reply and õ[k] the placeholder; everything before stays, token
 * by token. The first term was recorded by the sampler; the second takes one call of the policy for all turns. One number
 * per turn; NaN without a next action or without a reply.
 * Paper: "InfoPO: Information-Driven Policy Optimization for User-Centric Agents", whose placeholder is "No information
 * found." repeated to the length of the reply.
 */
export function replyInfluence(options: ReplyInfluenceOptions = {}): Annotate {
  const { placeholder = () => "", note = "influence" } = options;
  return async (ctx, { trajectories }) => {
    const model = ctx.model();
    const tokensOf = (turn: Turn) => present(turn.tokens, "replyInfluence", "tokens of every turn");
    const asked = trajectories.flatMap((t) =>
      t.turns.slice(1).flatMap((next, k) => {
        const asking = t.turns[k]!;
        const replies = next.prompt.slice(asking.prompt.length + 1);
        const { prompt, action } = tokensOf(asking);
        const target = tokensOf(next).action;
        if (replies.every((m) => m.content === "") || target.length === 0) return [];
        const masked = replies.map((m) => ({ ...m, content: placeholder(m, asking) }));
        return [
          { t, k, target, prompt: concatIds([prompt, action, model.codec.extend(asking.stop, masked)]) },
        ];
      }),
    );
    const out = new Map(trajectories.map((t) => [t.id, new Float32Array(t.turns.length).fill(Number.NaN)]));
    if (asked.length === 0) return { [note]: out };
    const rows = pairRows(asked);
    const { logp } = await model.score(rows);
    asked.forEach(({ t, k, target }, r) => {
      const real = tokensOf(t.turns[k + 1]!).logp;
      let sum = 0;
      for (let j = 0; j < target.length; j++) sum += real[j]! - logp[rows.targetOffset[r]! + j]!;
      out.get(t.id)![k] = sum / target.length;
    });
    return { [note]: out };
  };
}
