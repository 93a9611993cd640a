/**
 * What reviewers thought of feedback. A review is kept as feedback is: a reaction on a channel of its own, tagged with the
 * signal that it is about. It says something of that signal and nothing of the agent, so that nothing is learnt from it as
 * if a user had said it.
 */
import type { ReceivedSignal } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";

export const reviewChannel = "review";

/** The signal that a review is about; nothing where it is no review. */
export const reviewed = ({ channel, tags }: Pick<ReceivedSignal, "channel" | "tags">): Id | undefined =>
  channel === reviewChannel ? tags.signal : undefined;

/** The last review of each signal that has one. @param signals in the order in which they arrived, reviews among them. */
export const lastReviews = (signals: readonly ReceivedSignal[]): ReadonlyMap<Id, ReceivedSignal> =>
  new Map(
    signals.flatMap((signal): readonly (readonly [Id, ReceivedSignal])[] => {
      const about = reviewed(signal);
      return about === undefined ? [] : [[about, signal]];
    }),
  );

/** Corrections and demonstrations whose last review rejects them. @param signals as of {@link lastReviews}. */
export function rejectedAmong(signals: readonly ReceivedSignal[]): ReadonlySet<Id> {
  const reviews = lastReviews(signals);
  const taught = signals.filter(({ kind }) => kind === "correction" || kind === "demonstration");
  return new Set(taught.map(({ id }) => id).filter((id) => reviews.get(id)?.text === "rejected"));
}
