import type { CritiqueDetail } from "../core/critique.ts";
import type { Critiquer } from "../core/critiquer.ts";

/** Settings of {@link scriptedCritiquer}. */
export interface ScriptedCritiquerOptions {
  /** Probability that a critique is true; otherwise it misleads. Default 1. */
  readonly accuracy?: number;
  /** Default "hint". */
  readonly detail?: CritiqueDetail;
}

/** A critic of known accuracy: it uses the environment's own templates, which are true with a given probability. */
export function scriptedCritiquer({
  accuracy = 1,
  detail = "hint",
}: ScriptedCritiquerOptions = {}): Critiquer {
  return (ctx, trajectory, random) =>
    ctx.critique(trajectory, {
      right: random.split("accuracy").next() < accuracy,
      detail,
      random: random.split("template"),
    });
}
