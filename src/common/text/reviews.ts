/**
 * Reviews of feedback. A review is stored as feedback: a reaction on its own channel, tagged with the signal that it is
 * about. It rates that signal and not the agent, so learners never use it as user feedback.
 */
import type { ReceivedSignal } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";

export const reviewChannel = "review";

/** The signal that a review is about; undefined for other feedback. */
export const reviewedSignal = ({
  channel,
  tags,
}: Pick<ReceivedSignal, "channel" | "tags">): Id | undefined =>
  channel === reviewChannel ? tags.signal : undefined;

/** The last review of each reviewed signal. @param signals all signals, including reviews, in order of arrival. */
export const lastReviews = (signals: readonly ReceivedSignal[]): ReadonlyMap<Id, ReceivedSignal> =>
  new Map(
    signals.flatMap((signal): readonly (readonly [Id, ReceivedSignal])[] => {
      const about = reviewedSignal(signal);
      return about === undefined ? [] : [[about, signal]];
    }),
  );

/** Corrections and demonstrations whose last review rejects them. @param signals as for {@link lastReviews}. */
export function rejectedAmong(signals: readonly ReceivedSignal[]): ReadonlySet<Id> {
  const reviews = lastReviews(signals);
  const taught = signals.filter(({ kind }) => kind === "correction" || kind === "demonstration");
  return new Set(taught.map(({ id }) => id).filter((id) => reviews.get(id)?.text === "rejected"));
}
