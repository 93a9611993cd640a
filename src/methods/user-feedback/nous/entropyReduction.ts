import type { Feedback } from "../../../core/slots.ts";
import type { Turn } from "../../../core/types.ts";
import { type Intent, intentOf, slotsNamed } from "../../../worlds/intent.ts";
import { type Belief, beliefEntropy, uniformBelief, updated } from "./belief.ts";

/** Settings of {@link entropyReduction}. */
export interface EntropyReductionOptions {
  /** Belief before the first question. Default: {@link firstBelief}. */
  readonly first?: (intent: Intent) => Belief;
  /** Belief after a turn's answer. Default: {@link heardBelief} for truthful answers. */
  readonly heard?: (belief: Belief, turn: Turn, intent: Intent) => Belief;
  /** Default "entropy". */
  readonly channel?: string;
}

/**
 * The reward of each question: the reduction of the entropy over the user's intent by its answer, in nats, computed from
 * an exact belief, without a reward model or labels.
 *
 *     r[t] = H(b[t]) − H(b[t + 1])          b: belief before the question and after the answer
 *
 * A slot narrowed from n equally likely values to m gives ln(n/m), resolved ln n; an answer about several slots the sum.
 * An uninformative answer gives 0; a possibly wrong one can give a negative value, only its expectation is non-negative.
 * This is the realised gain, not the expected one; comparisons between attempts average it. Rewards telescope to
 * H(b[0]) − H(b[end]), so their sum does not depend on speed: credit them turn by turn.
 *
 * One signal per turn, none for failed episodes. @throws WhetstoneError `capability.missing` for tasks without an intent.
 * Paper: "Dialogue as Discovery: Navigating Human Intent Through Principled Inquiry".
 */
export function entropyReduction(options: EntropyReductionOptions = {}): Feedback {
  const { first = firstBelief, heard = heardBelief(), channel = "entropy" } = options;
  return async (ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .flatMap((t) => {
        const intent = intentOf(ctx.task(t.task));
        let belief = first(intent);
        let before = beliefEntropy(belief);
        return t.turns.map((turn, k) => {
          belief = heard(belief, turn, intent);
          const after = beliefEntropy(belief);
          const value = before - after;
          before = after;
          return {
            kind: "reward" as const,
            channel,
            about: [{ trajectory: t.id, turn: k }],
            value,
            source: "belief",
          };
        });
      });
}

/** Uniform over the missing slots; other slots do not count. */
export const firstBelief = ({ slots, missing }: Intent): Belief =>
  uniformBelief(Object.fromEntries(missing.map((slot) => [slot, slots[slot] ?? []])));

/**
 * Parses the answer to a turn: a slot followed by some of its values (`size v1 or v2`) has one of them. Slots without a
 * value, and values without a slot, are ignored.
 * @param wrong error rate of answers, in [0, 1); on an error every other value is equally likely. Default 0.
 */
export function heardBelief(wrong = 0): (belief: Belief, turn: Turn, intent: Intent) => Belief {
  return (belief, { text = "" }, intent) => {
    const words = text.split(/\s+/);
    return slotsNamed(intent, text).reduce((now, slot) => {
      const after = words.slice(words.indexOf(slot) + 1);
      const end = after.findIndex((word) => Object.hasOwn(intent.slots, word));
      const told = end < 0 ? after : after.slice(0, end);
      const values = intent.slots[slot] ?? [];
      const named = values.filter((value) => told.includes(value)).length;
      if (named === 0) return now;
      const [right, other] = [(1 - wrong) / named, wrong / Math.max(1, values.length - named)];
      return updated(
        now,
        slot,
        values.map((value) => (told.includes(value) ? right : other)),
      );
    }, belief);
  };
}
