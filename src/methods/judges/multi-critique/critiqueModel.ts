import { z } from "zod";
import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { Helper } from "../../../core/context.ts";
import { type Able, evaluatorIn, totalScore } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";
import type { ComparedExchanges } from "../../../helper/bradleyTerry.ts";
import { checkedPairs, focalWeight } from "./units.ts";

/** Settings of {@link critiqueModel}. */
export interface CritiqueModelOptions {
  /** The meta-judge: scores a critique. */
  readonly metaJudge: Able<"score">;
  /** γ of the focal loss. Default 2. */
  readonly gamma?: number;
  /** Name of the helper that is the reward model. Default "reward". */
  readonly helper?: string;
  /** Pairs that are kept, the newest. Default 4000. */
  readonly keep?: number;
}

const exchange = z.object({ asked: z.string(), replied: z.string() });
const pairsSchema = z.array(z.object({ first: exchange, second: exchange }));
const memoryKey = "critiqueModel";

/**
 * Rewards critiques by a reward model of pairs that two witnesses agree on. Critiques on one attempt are scored by a meta-judge; a pair counts only
 * where the better one also led to better revisions, which the rollout has paid each critique for. The reward model is fitted to all such pairs
 * so far, a pair weighted by how unsure the model was of it before (focal), and its scores are the rewards.
 *
 *     L = −Σ (1 − 2 max(0, p − ½))^γ ln p,   p = σ(s⁺ − s⁻)          the weight from the model before this fit
 *
 * Signals on channel "outcome", one for each critique; none before the first pair. A critique that the meta-judge fails on is in no pair.
 * Paper: "Training Language Models to Critique With Multi-agent Feedback".
 */
export function critiqueModel(options: CritiqueModelOptions): Feedback {
  const { metaJudge, gamma = 2, helper = "reward", keep = 4000 } = options;
  return async (ctx, { trajectories, units }) => {
    const model = ctx.helper<ComparedExchanges, number | null, number>(helper);
    const byId = new Map(trajectories.map((t) => [t.id, t]));
    const judge = evaluatorIn(ctx, metaJudge);
    const rated = await Promise.all(
      units.map(async ({ group, members: [id = ""] }) => {
        const t = byId.get(id)!;
        const scores = await judge.score(t, ctx.random.split("meta-judge", id));
        return scores
          ? [{ group, exchange: exchangeOf(t), score: totalScore(scores), revised: ratingOf(t) }]
          : [];
      }),
    );
    const groups = [...Map.groupBy(rated.flat(), ({ group }) => group).values()];
    const now = groups
      .flatMap((group) => checkedPairs(group))
      .map(([better, worse]) => ({ first: better.exchange, second: worse.exchange }));
    const pairs = [...pairsSchema.parse(ctx.memory.get(memoryKey) ?? []), ...now].slice(-keep);
    ctx.memory.set(memoryKey, pairs);
    if (pairs.length === 0) return [];
    await fitFocal(model, pairs, gamma);
    const critiques = units.flatMap(({ members: [id = ""] }) => byId.get(id) ?? []);
    const said = await model.predict(critiques.map((t) => ({ first: exchangeOf(t) })));
    return critiques.flatMap(({ id }, i): Signal[] => {
      const value = said[i]!;
      if (Number.isNaN(value)) return [];
      return [
        { kind: "score", channel: "outcome", about: [{ trajectory: id }], value, source: `helper:${helper}` },
      ];
    });
  };
}

/** Fits a reward model to pairs (better, worse), each weighted by what the model said of it before; the first fit has equal weights. */
export async function fitFocal(
  model: Helper<ComparedExchanges, number | null, number>,
  pairs: readonly Required<ComparedExchanges>[],
  gamma: number,
): Promise<void> {
  const margins = await model.predict(pairs);
  await model.fit(
    pairs.map((x, i) => ({
      x,
      y: 1,
      weight: Number.isNaN(margins[i]) ? 1 : Math.max(1e-3, focalWeight(sigmoid(margins[i]!), gamma)),
    })),
  );
}

/** What the critic was shown, and what it wrote. */
function exchangeOf({ turns }: Trajectory): { readonly asked: string; readonly replied: string } {
  const turn = turns.at(-1);
  return {
    asked: turn?.prompt.map(({ content }) => content).join("\n") ?? "",
    replied: turn?.action.content ?? "",
  };
}

/** What the rollout paid a critique: the share of revisions that are right. */
const ratingOf = ({ turns }: Trajectory): number => turns.at(-1)?.rewards.rating ?? 0;
