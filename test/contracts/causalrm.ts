import type { Exposure, Signal } from "../../src/core/signal.ts";
import { signalValue } from "../../src/core/signal.ts";
import type { Feedback } from "../../src/core/slots.ts";
import type { Id } from "../../src/core/types.ts";

export const debiased =
  (exposures: readonly Exposure[], reactions: readonly Signal[]): Feedback =>
  async (ctx, { trajectories }) => {
    const answered = new Map<Id | undefined, Signal>(reactions.map((s) => [s.exposure, s]));
    const propensity = await ctx.helper("propensity").predict(exposures);
    const rows = exposures.map((exposure, i) => {
      const signal = answered.get(exposure.id);
      const y = signal ? (signalValue(signal) ?? 0) : 0;
      return { x: exposure.about, y, weight: signal ? 1 / Math.max(0.05, propensity[i]!) : 0 };
    });
    await ctx.helper("reward").fit(rows);
    const predicted = await ctx.helper("reward").predict(trajectories.map((t) => ({ trajectory: t.id })));
    return trajectories.map((t, i) => ({
      kind: "score" as const,
      channel: "reward model",
      about: [{ trajectory: t.id }],
      value: predicted[i]!,
      source: "helper:reward",
    }));
  };
