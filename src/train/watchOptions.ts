/** What a watched run is told. */
import { z } from "zod";
import { WhetstoneError } from "../core/errors.ts";
import type { Evaluator } from "../core/evaluator.ts";

/** How a run is watched while a reward model or a judge pays it. */
export interface WatchOptions {
  /**
   * Says how good attempts truly are: people's labels, a verifier, a judge that is not the one who pays. It must be able to score.
   * "environment": the rewards that the environment gave, for methods that are paid by something else.
   */
  readonly audit: Evaluator | "environment";
  /** Reward models whose disagreement is measured, each asked about every attempt. Default: none. */
  readonly models?: readonly Evaluator[];
  /** Attempts that are audited in an iteration, of different tasks where there are so many. Default 8. */
  readonly audits?: number;
  /** Iterations that are compared as one block. Default 8. */
  readonly every?: number;
  /** Largest probability of an alarm in a run whose audits never fall, in (0, 1). Default 0.05. */
  readonly error?: number;
  /** Largest distance to the policy at the beginning, in nats an attempt. Default: it is not measured. */
  readonly distance?: number;
  /** On an alarm, the training ends ("stop") or goes on with a warning ("warn"). Default "stop". */
  readonly onAlarm?: "stop" | "warn";
}

/** What of it is plain data and stays as it is while the run goes on. */
export const watchSchema = z.strictObject({
  audits: z.exactOptional(z.int()),
  every: z.exactOptional(z.int()),
  error: z.exactOptional(z.number()),
  distance: z.exactOptional(z.number()),
} satisfies Record<Exclude<keyof WatchOptions, "audit" | "models" | "onAlarm">, z.ZodType>);

/** The plain data of a watch. @throws WhetstoneError `option.range`. */
export function watchSettings({
  audit,
  models: _,
  onAlarm: __,
  ...settings
}: WatchOptions): z.output<typeof watchSchema> {
  const { audits = 8, every = 8, error = 0.05, distance = 1 } = settings;
  const wrong = [
    {
      name: "audits",
      value: audits,
      fits: Number.isInteger(audits) && audits >= 1,
      expected: "a whole number of 1 or more",
    },
    {
      name: "every",
      value: every,
      fits: Number.isInteger(every) && every >= 1,
      expected: "a whole number of 1 or more",
    },
    {
      name: "error",
      value: error,
      fits: error > 0 && error < 1,
      expected: "a probability above 0 and below 1",
    },
    { name: "distance", value: distance, fits: distance > 0, expected: "nats above 0" },
  ].find(({ fits }) => !fits);
  if (wrong) {
    throw new WhetstoneError("option.range", {
      where: `watch.${wrong.name}`,
      got: String(wrong.value),
      expected: wrong.expected,
      fix: "Correct it, or leave it out for the default.",
    });
  }
  if (audit !== "environment" && !audit.score) throw noScores(audit.name);
  return settings;
}

const noScores = (name: string): WhetstoneError =>
  new WhetstoneError("capability.missing", {
    where: `watch.audit: ${name}`,
    got: "an evaluator that does not score",
    expected: "one that scores attempts",
    fix: "Give it a method `score`, or audit with another one.",
  });
