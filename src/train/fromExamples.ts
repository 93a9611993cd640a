/** Any method, learning from what was recorded in place of what it would try itself. */
import { WhetstoneError } from "../core/errors.ts";
import type { Method } from "../core/slots.ts";
import type { TrainingExample, TrainingExampleKind } from "../core/trainingExamples.ts";
import { type RecordedFeedbackOptions, recordedFeedback } from "../feedback/recordedFeedback.ts";
import { type ReplayedOptions, replayed } from "../rollout/replayed.ts";

/** Settings of {@link fromExamples}. */
export interface FromExamplesOptions extends ReplayedOptions, RecordedFeedbackOptions {
  /** Which examples. Default: those that the method declares. */
  readonly kind?: TrainingExampleKind;
}

/**
 * The method with its rollout and feedback replaced: examples are replayed, and what people said of them is what it hears.
 * Everything after that is the method's own.
 * @throws WhetstoneError `config.invalid` for a method that changes how it plays on the way.
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
  const taken = examples.filter((example) => example.kind === kind);
  return {
    ...method,
    slots: {
      ...method.slots,
      rollout: replayed(taken, { ...rest, group }),
      feedback: [recordedFeedback(taken, rest)],
    },
  };
}
