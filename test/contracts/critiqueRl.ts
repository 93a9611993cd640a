import type { Signal } from "../../src/core/signal.ts";
import type { Feedback } from "../../src/core/slots.ts";

export const refinement: Feedback = async (ctx, { trajectories }) => {
  const told = trajectories.map(async (critique, k): Promise<readonly Signal[]> => {
    const advice = critique.turns[0]?.action.content ?? "";
    const attempt = trajectories.length + k; // beyond those of the rollout
    const [refined] = await ctx.play({ task: critique.task, attempt, advice, models: { agent: "actor" } });
    if (!refined) return [];
    ctx.count("verifier.calls", 1);
    const verdicts = await ctx.verify(refined);
    return verdicts.map((v) => ({ ...v, channel: "refinement", about: [{ trajectory: critique.id }] }));
  });
  return (await Promise.all(told)).flat();
};
