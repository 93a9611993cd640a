/** Any method, learning from what was recorded in place of what it would try itself. */
import { WhetstoneError } from "../core/errors.ts";
import type { Method } from "../core/slots.ts";
import type { TrainingExample, TrainingExampleKind } from "../core/trainingExamples.ts";
import { type RecordedFeedbackOptions, recordedFeedback } from "../feedback/recordedFeedback.ts";
import { type ReplayedOptions, replayed } from "../rollout/replayed.ts";

/** Settings of {@link fromExamples}. */
export interface FromExamplesOptions extends ReplayedOptions, RecordedFeedbackOptions {
  /** Which examples. Default: what {@link exampleKindFor} says. */
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
  // replies of a pair have to answer one prompt; a baseline wants more replies than one prompt has
  const usual = minesPairs(method) ? "task" : "all";
  const { kind = exampleKindFor(method), group = usual, ...rest } = options;
  const plays = method.phases?.find(({ slots }) => slots.rollout ?? slots.feedback);
  if (plays) {
    throw new WhetstoneError("config.invalid", {
      where: `method "${method.id}"`,
      got: `a phase "${plays.name}" with a way to play of its own`,
      expected: "one that can learn from what was recorded",
      fix: "Choose another, such as dpo, sft, kto or cispo.",
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

/**
 * The examples that suit a method: pairs, where it packs preferences; ratings, where it learns from replies that are good
 * or bad, on their own or in pairs that it makes itself; demonstrations, where it learns whatever is shown; else
 * conversations with their rewards.
 */
export function exampleKindFor(method: Method): TrainingExampleKind {
  if (has(method, "preferencePairs")) return "pair";
  if (minesPairs(method) || has(method, "prospectValue")) return "rating";
  return has(method, "constant") ? "demonstration" : "conversation";
}

/** Whether it learns from nothing but pairs that it makes of rewards itself. */
const minesPairs = (method: Method): boolean => has(method, "constant") && has(method, "outcomePairs");

const has = ({ slots }: Method, piece: string): boolean =>
  slots.advantage.some(({ name }) => name === piece) || slots.objective.some(({ name }) => name === piece);
