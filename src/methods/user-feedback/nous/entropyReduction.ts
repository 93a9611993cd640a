import type { Feedback } from "../../../core/slots.ts";
import type { Turn } from "../../../core/types.ts";
import { type Intent, intentOf, slotsNamed } from "../../../worlds/intent.ts";
import { type Belief, beliefEntropy, uniformBelief, updated } from "./belief.ts";

/** Settings of {@link entropyReduction}. */
export interface EntropyReductionOptions {
  /** What is believed before the first question. Default: {@link firstBelief}. */
  readonly first?: (intent: Intent) => Belief;
  /** What is believed once a turn's answer was heard. Default: {@link heardBelief}, of answers that are true. */
  readonly heard?: (belief: Belief, turn: Turn, intent: Intent) => Belief;
  /** Default "entropy". */
  readonly channel?: string;
}

/**
 * What each question is worth: the nats of uncertainty about the user's intent that its answer took away, computed from an
 * exact belief, with no reward model and no label.
 *
 *     r[t] = H(b[t]) − H(b[t + 1])          b: what is believed before the question and after the answer
 *
 * A slot narrowed from n values that were as likely to m gives ln(n/m), resolved ln n; an answer about several slots the
 * sum. One that tells nothing gives 0, and one that may be wrong can give less: only its expectation is not negative. It is
 * the gain that was realised, not the one to be expected; comparisons between attempts average it. Rewards telescope to
 * H(b[0]) − H(b[end]), so that their sum tells nothing of speed: credit them turn by turn.
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

/** Of what is missing nothing is known, and nothing else matters. */
export const firstBelief = ({ slots, missing }: Intent): Belief =>
  uniformBelief(Object.fromEntries(missing.map((slot) => [slot, slots[slot] ?? []])));

/**
 * Reads what was said about a turn: a slot followed by some of its values (`size v1 or v2`) is one of these. Slots without
 * a value, and values of no slot, tell nothing.
 * @param wrong how often an answer is wrong, in [0, 1): then any of the other values is as likely. Default 0.
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
