import type { Logged } from "../core/served.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";
import { signalsOf, type TrainingExample, trajectoriesOf } from "../core/trainingExamples.ts";

/** Settings of {@link recordedFeedback}. */
export interface RecordedFeedbackOptions {
  /** Channels that are used. Default: all. */
  readonly channels?: readonly string[];
  /**
   * Reward, by channel, of a reply that could have received feedback and did not. This is a modelling decision: without it,
   * missing feedback gives no signal.
   */
  readonly silence?: Readonly<Record<string, number>>;
}

/** The users' feedback on the training examples that the rollout replayed, and rewards for missing feedback where configured. */
export function recordedFeedback(
  examples: readonly TrainingExample[],
  options: RecordedFeedbackOptions = {},
): Feedback {
  const { channels, silence = {} } = options;
  return async (_ctx, { trajectories }) => {
    const here = new Set(trajectories.map((t) => t.id));
    return examples
      .filter((example) => trajectoriesOf(example).every((t) => here.has(t.id)))
      .flatMap((example) => [
        ...signalsOf(example),
        ...(example.kind === "conversation" ? silences(example.logged, silence) : []),
      ])
      .filter(({ channel }) => channels?.includes(channel) ?? true);
  };
}

/** One reward for each exposure without feedback on its channel, neither on the response nor on the whole conversation. */
function silences({ signals, exposures }: Logged, worth: Readonly<Record<string, number>>): Signal[] {
  const answered = (channel: string, turn: number | undefined): boolean =>
    signals.some(
      (signal) =>
        signal.channel === channel && signal.about.some((ref) => ref.turn === undefined || ref.turn === turn),
    );
  return exposures.flatMap(({ id, channel, about }): Signal[] => {
    const value = Object.hasOwn(worth, channel) ? worth[channel] : undefined;
    if (value === undefined || answered(channel, about.turn)) return [];
    return [{ kind: "reward", channel, about: [about], value, source: "silence", exposure: id }];
  });
}
