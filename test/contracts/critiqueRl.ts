import { evaluatorIn } from "../../src/core/evaluator.ts";
import type { Signal } from "../../src/core/signal.ts";
import type { Feedback } from "../../src/core/slots.ts";

export const refinement: Feedback = async (ctx, { trajectories }) => {
  const { score } = evaluatorIn(ctx, ctx.environment);
  const told = trajectories.map(async (critique, k): Promise<readonly Signal[]> => {
    const advice = critique.turns[0]?.action.content ?? "";
    const attempt = trajectories.length + k; // beyond those of the rollout
    const [refined] = await ctx.play({ task: critique.task, attempt, advice, models: { agent: "actor" } });
    if (!refined) return [];
    const scores = await score(refined, ctx.random.split("score", refined.id));
    const about = [{ trajectory: critique.id }];
    return Object.values(scores ?? {}).map((value) => ({
      kind: "reward",
      channel: "refinement",
      about,
      value,
      source: ctx.environment.name,
    }));
  });
  return (await Promise.all(told)).flat();
};
