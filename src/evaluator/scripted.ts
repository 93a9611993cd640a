import type { CritiqueDetail } from "../core/critique.ts";
import { type Able, able, type EnvironmentEvaluator } from "../core/evaluator.ts";

/** Settings of {@link scriptedCritiquer}. */
export interface ScriptedCritiquerOptions {
  /** Probability that a critique is true; otherwise it misleads. Default 1. */
  readonly accuracy?: number;
  /** Default "hint". */
  readonly detail?: CritiqueDetail;
}

/**
 * A critiquer of known accuracy: it uses the templates of the run's environment, which are true with a given probability.
 * Throws WhetstoneError `capability.missing` where the environment writes no critiques, or outside of a run.
 */
export function scriptedCritiquer({
  accuracy = 1,
  detail = "hint",
}: ScriptedCritiquerOptions = {}): Able<"critique"> {
  const name = "scripted critiquer";
  return {
    name,
    critique: async (attempt, { random, run }) => {
      const right = random.split("accuracy").next() < accuracy;
      const environment: EnvironmentEvaluator = run?.environment ?? { name };
      return able(environment, "critique")(attempt, { right, detail, random: random.split("template") });
    },
  };
}
