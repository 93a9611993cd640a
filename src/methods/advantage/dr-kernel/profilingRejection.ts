import type { Annotate } from "../../../core/slots.ts";

/** Settings of {@link profilingRejection}. */
export interface ProfilingRejectionOptions {
  /** Name of the reward that measures the share of the work done by an action's own code, in [0, 1]. Default "coverage". */
  readonly reward?: string;
  /** Coverage up to which nothing is kept. Default 0.3. */
  readonly from?: number;
  /** Width of the range above `from` over which P(kept) rises to 1. Default 0.1. */
  readonly width?: number;
  /** Default "kept". */
  readonly note?: string;
}

/**
 * Draws which turns are trained on: 1 kept, 0 dropped.
 *
 *     P(kept) = clamp((coverage − from) / width, 0, 1)
 *
 * Answers that are right without doing the work are dropped, so that they are not reinforced. A turn without a measured
 * coverage, such as a wrong answer, is always kept as a negative example.
 * Paper: "Dr. Kernel: Reinforcement Learning Done Right for Triton Kernel Generations".
 */
export function profilingRejection(options: ProfilingRejectionOptions = {}): Annotate {
  const { reward = "coverage", from = 0.3, width = 0.1, note = "kept" } = options;
  return async (ctx, { trajectories }) => {
    const kept = trajectories.map((t) => {
      const draws = t.turns.map(({ rewards }, k) => {
        const coverage = rewards[reward];
        if (coverage === undefined) return 1;
        return ctx.random.split("profiling", t.id, k).next() < (coverage - from) / width ? 1 : 0;
      });
      return [t.id, Float32Array.from(draws)] as const;
    });
    return { [note]: new Map(kept) };
  };
}
