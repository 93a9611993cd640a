import type { Critic } from "../core/critic.ts";
import type { CritiqueDetail } from "../core/critique.ts";

/** Settings of {@link scriptedCritic}. */
export interface ScriptedCriticOptions {
  /** Probability that a critique is true; otherwise it misleads. Default 1. */
  readonly accuracy?: number;
  /** Default "hint". */
  readonly detail?: CritiqueDetail;
}

/** A critic of known accuracy: it uses the environment's own templates, which are true with a given probability. */
export function scriptedCritic({ accuracy = 1, detail = "hint" }: ScriptedCriticOptions = {}): Critic {
  return (ctx, trajectory, random) =>
    ctx.critique(trajectory, {
      right: random.split("accuracy").next() < accuracy,
      detail,
      random: random.split("template"),
    });
}
