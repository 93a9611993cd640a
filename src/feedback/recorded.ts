import type { Logged } from "../core/served.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";
import { type ServedLesson, signalsOf, trajectoriesOf } from "../core/trainingExamples.ts";

/** Settings of {@link recorded}. */
export interface RecordedOptions {
  /** Channels that are heard. Default: all. */
  readonly channels?: readonly string[];
  /**
   * What it is worth, by channel, that a reply could have been given feedback and was not. A decision that somebody has
   * to make: without one, silence says nothing.
   */
  readonly silence?: Readonly<Record<string, number>>;
}

/** What people said of the lessons that the rollout replayed, and their silence where that is given a worth. */
export function recorded(lessons: readonly ServedLesson[], options: RecordedOptions = {}): Feedback {
  const { channels, silence = {} } = options;
  return async (_ctx, { trajectories }) => {
    const here = new Set(trajectories.map((t) => t.id));
    return lessons
      .filter((lesson) => trajectoriesOf(lesson).every((t) => here.has(t.id)))
      .flatMap((lesson) => [
        ...signalsOf(lesson),
        ...(lesson.kind === "conversation" ? silences(lesson.logged, silence) : []),
      ])
      .filter(({ channel }) => channels?.includes(channel) ?? true);
  };
}

/** One reward for each exposure on a channel that nobody answered, neither there nor for the conversation as a whole. */
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
