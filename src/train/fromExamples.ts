/** Trains any method on recorded examples instead of its own episodes. */
import { WhetstoneError } from "../core/errors.ts";
import type { Method } from "../core/slots.ts";
import {
  demonstrationsOf,
  type TrainingExample,
  type TrainingExampleKind,
} from "../core/trainingExamples.ts";
import { type RecordedFeedbackOptions, recordedFeedback } from "../feedback/recordedFeedback.ts";
import { type ReplayedOptions, replayed } from "../rollout/replayed.ts";

/** Settings of {@link fromExamples}. */
export interface FromExamplesOptions extends ReplayedOptions, RecordedFeedbackOptions {
  /** Kind of the examples. Default: the one that the method declares. */
  readonly kind?: TrainingExampleKind;
}

/** The examples as the method learns from them: one that imitates must not imitate what somebody rejected. */
export const examplesFor = (
  { learnsFrom }: Method,
  examples: readonly TrainingExample[],
): readonly TrainingExample[] =>
  learnsFrom?.kind === "demonstration" ? examples.flatMap(demonstrationsOf) : examples;

/**
 * The method with its rollout and feedback replaced: examples are replayed with their recorded feedback.
 * Everything after that is the method's own. A method that imitates takes the preferred reply of a pair, and good ratings.
 * @throws WhetstoneError `config.invalid` for a method whose phases change the rollout or the feedback.
 */
export function fromExamples(
  method: Method,
  examples: readonly TrainingExample[],
  options: FromExamplesOptions = {},
): Method {
  const { kind: usual = "conversation", group: compared = "all" } = method.learnsFrom ?? {};
  const { kind = usual, group = compared, ...rest } = options;
  const plays = method.phases?.find(({ slots }) => slots.rollout ?? slots.feedback);
  if (plays) {
    throw new WhetstoneError("config.invalid", {
      where: `method "${method.id}"`,
      got: `a phase "${plays.name}" that changes the rollout or the feedback`,
      expected: "a method that can be trained on recorded data",
      fix: "Choose another method, such as dpo, sft, kto or cispo.",
    });
  }
  const taken = examplesFor(
    method,
    examples.filter((example) => example.kind === kind),
  );
  return {
    ...method,
    slots: {
      ...method.slots,
      rollout: replayed(taken, { ...rest, group }),
      feedback: [recordedFeedback(taken, rest)],
    },
  };
}
