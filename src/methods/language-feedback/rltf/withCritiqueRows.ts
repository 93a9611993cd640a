import { concatIds, trajectoryRows } from "../../../common/tokens/pack.ts";
import type { Row } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Message, Trajectory, Unit } from "../../../core/types.ts";

/** The role that such rows name. */
export const criticRole = "critic";

/** Settings of {@link withCritiqueRows}. */
export interface WithCritiqueRowsOptions {
  /** What the policy is asked after the attempt. Default "How did this attempt go?". */
  readonly question?: string;
}

/**
 * What a rollout brings home, and for each critique in it a row in which the policy itself writes that critique:
 *
 *     row: (x, y, question, c)          targets: the tokens of c and its end
 *
 * Learning to say what will be said of an attempt is learning what was wrong with it, and makes a critic of the policy.
 * The rows are of origin "demonstrated" and role "critic", in the unit of the attempt, without log-probabilities and with
 * advantage 1, so that a likelihood can be restricted to them and ratios to what was sampled.
 * Paper: "Expanding the Capabilities of Reinforcement Learning via Text Feedback".
 */
export function withCritiqueRows(rollout: Rollout, options: WithCritiqueRowsOptions = {}): Rollout {
  const { question = critiqueAsked } = options;
  return async (ctx) => {
    const own = await rollout(ctx);
    const byId = new Map(own.trajectories.map((t) => [t.id, t]));
    const rows = own.units.flatMap((unit) =>
      unit.members.flatMap((id) => {
        const [t, critique] = [byId.get(id), own.critiques?.get(id)];
        return t && critique ? rowsOf(ctx, t, unit, question, critique.text) : [];
      }),
    );
    return { ...own, rows: [...(own.rows ?? []), ...rows] };
  };
}

/** The default question. */
export const critiqueAsked = "How did this attempt go?";

function rowsOf(ctx: Ctx, t: Trajectory, unit: Unit, question: string, text: string): readonly Row[] {
  const last = t.turns.at(-1);
  if (!last) return [];
  const { codec } = ctx.model(last.model);
  const messages: readonly Message[] = [...last.prompt, last.action, { role: "user", content: question }];
  const action = concatIds([codec.encode(text), Int32Array.of(codec.endId)]);
  const unknown = new Float32Array(action.length).fill(Number.NaN);
  const tokens = { prompt: codec.open(messages), action, logp: unknown, behaviour: unknown };
  const turn = {
    ...last,
    role: criticRole,
    prompt: messages,
    action: { role: "assistant", content: text } as const,
    tokens,
    spans: {},
  };
  const written = { ...t, role: criticRole, turns: [turn], origin: "demonstrated" } as const;
  return trajectoryRows(written, unit, new Float32Array(action.length).fill(1)).rows;
}
