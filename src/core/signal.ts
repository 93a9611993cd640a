/** Feedback signals of every kind, and exposures: records that feedback was possible. */
import type { Id, Ref } from "./types.ts";

/** Whether a judge gave it, and no person. */
export const isOfJudge = ({ source }: { readonly source: string }): boolean => source.startsWith("judge:");

interface SignalBase {
  /** Channel under which the credit slot reads it, e.g. "outcome", "judge.helpfulness". */
  readonly channel: string;
  readonly about: readonly Ref[];
  /** Who gave it: "environment", "judge:gpt", "user:42"… */
  readonly source: string;
  /** The exposure that it answers, so that a missing answer is known and is never counted as 0. */
  readonly exposure?: Id;
}

/**
 * Feedback on trajectories, turns or spans of them, from an environment, a judge or a person. Values are in the giver's
 * own units.
 */
export type Signal = SignalBase &
  (
    | { readonly kind: "reward"; readonly value: number }
    | { readonly kind: "score"; readonly value: number; readonly text?: string }
    | { readonly kind: "critique"; readonly text: string; readonly value?: number }
    /** `about[best]` is preferred over the others; `value` is the strength, where one was requested. */
    | { readonly kind: "preference"; readonly best: number; readonly value?: number }
    | { readonly kind: "correction"; readonly text: string }
    | { readonly kind: "demonstration"; readonly text: string }
    | { readonly kind: "reaction"; readonly text: string; readonly value?: number }
  );
/** Distinguishes the forms that feedback can take, such as a reward, a preference or a correction. */
export type SignalKind = Signal["kind"];

/** A response that was served where feedback on `channel` was possible. */
export interface Exposure {
  readonly id: Id;
  readonly about: Ref;
  readonly channel: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Probability with which this response was served, where a split chose it. */
  readonly propensity?: number;
}

/** The number that a signal carries, if it carries one. */
export function signalValue(s: Signal): number | undefined {
  return "value" in s ? s.value : undefined;
}
