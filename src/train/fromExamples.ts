/** Trains any method on recorded examples instead of its own episodes. */
import { WhetstoneError } from "../core/errors.ts";
import type { Method } from "../core/slots.ts";
import type { TrainingExample, TrainingExampleKind } from "../core/trainingExamples.ts";
import type { Trajectory } from "../core/types.ts";
import { type RecordedFeedbackOptions, recordedFeedback } from "../feedback/recordedFeedback.ts";
import { type ReplayedOptions, replayed } from "../rollout/replayed.ts";

/** Settings of {@link fromExamples}. */
export interface FromExamplesOptions extends ReplayedOptions, RecordedFeedbackOptions {
  /** Kind of the examples. Default: the one that the method declares. */
  readonly kind?: TrainingExampleKind;
}

/**
 * The examples as the method learns from them. One that imitates takes the reply of a pair that is more likely preferred, and a
 * reply that was rated good, each once; conversations as they are.
 */
export function examplesFor(
  { learnsFrom }: Method,
  examples: readonly TrainingExample[],
): readonly TrainingExample[] {
  if (learnsFrom?.kind !== "demonstration") return examples;
  const once = new Map<string, TrainingExample>();
  for (const example of examples) {
    const shown = wanted(example);
    const { id, task, from } = example;
    if (example.kind === "conversation" || example.kind === "demonstration") once.set(id, example);
    else if (shown) {
      const text = JSON.stringify([task.id, ...shown.turns.map(({ action }) => action)]);
      if (!once.has(text))
        once.set(text, { id, task, from, kind: "demonstration", source: example.source, shown });
    }
  }
  return [...once.values()];
}

/** The reply of a pair or a rating that somebody wanted; none where it is as likely that they did not. */
function wanted(example: TrainingExample): Trajectory | undefined {
  if (example.kind === "rating") return example.good ? example.reply : undefined;
  if (example.kind !== "pair" || example.strength === 0.5) return undefined;
  return example.strength > 0.5 ? example.chosen : example.rejected;
}

/**
 * The method with its rollout and feedback replaced: examples are replayed with their recorded feedback.
 * Everything after that is the method's own. A method that imitates learns from pairs and ratings too, where `kind` asks for them:
 * from what was preferred or rated good.
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
