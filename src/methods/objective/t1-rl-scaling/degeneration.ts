import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";

/** Settings of {@link degeneration}. */
export interface DegenerationOptions {
  /** Size of the penalty. Default 0.5. */
  readonly penalty?: number;
  /** Length n of the n-grams checked for repetition, in words. Default 4. */
  readonly run?: number;
  /** Largest allowed share of repeated n-grams in an action. Default 0.5. */
  readonly repeated?: number;
  /** Default "degeneration". */
  readonly channel?: string;
}

/**
 * A penalty for typical defects of high-temperature sampling: truncated episodes and actions that repeat themselves.
 *
 *     value = −penalty   where the episode was truncated, or in any action
 *                        (runs of `run` words that occurred before in it) / (runs of `run` words) > repeated
 *
 * Others get no signal; nor do failed ones. Actions shorter than a run do not repeat.
 * Paper: "Advancing Language Model Reasoning through Reinforcement Learning and Inference Scaling".
 */
export function degeneration(options: DegenerationOptions = {}): Feedback {
  const { penalty = 0.5, run = 4, repeated = 0.5, channel = "degeneration" } = options;
  const isDegenerate = (t: Trajectory): boolean =>
    t.end.kind === "truncated" || t.turns.some((turn) => repetition(turn.action.content, run) > repeated);
  return async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed" && isDegenerate(t))
      .map((t) => ({
        kind: "reward",
        channel,
        about: [{ trajectory: t.id }],
        value: -penalty,
        source: "degeneration",
      }));
}

/** Share of a text's runs of `run` words that occurred in it before; 0 of a text with none. */
export function repetition(text: string, run: number): number {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const runs = words.slice(run - 1).map((_, i) => words.slice(i, i + run).join(" "));
  return runs.length === 0 ? 0 : 1 - new Set(runs).size / runs.length;
}
