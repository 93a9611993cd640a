/**
 * Preferences at three levels from one set of compared pairs: between replies, between instructions (intra-sample), and between pairs
 * (inter-sample). Instructions are written and checked by rules, so that no annotator is asked again.
 * Paper: "Multi-Level Aware Preference Learning: Enhancing RLHF for Complex Multi-Instruction Tasks".
 */
import { type Random, shuffled } from "../../../core/random.ts";
import { difference, type Exchanged, type LabelledExchanges } from "../../../helper/bradleyTerry.ts";
import { crossedWords } from "../../../helper/crossedWords.ts";
import type { LogisticRow } from "../../../helper/logisticRegression.ts";
import type { Features } from "../../../helper/ridge.ts";
import type { Checkable, InstructionFunction } from "./checkable.ts";

/** Settings of both synthetic levels. */
export interface LevelOptions {
  /** G0, the kinds of instruction. */
  readonly functions: readonly InstructionFunction[];
  /** Largest number of instructions that are added to a request. Default 3. */
  readonly most?: number;
  readonly featuresOf?: (exchange: Exchanged) => Features;
}

/** {@link crossedWords}, and the words of the request alone: rewards of one reply under two requests differ in them too. */
export const requestAndReply = (exchange: Exchanged): Features => ({
  ...Object.fromEntries(exchange.asked.split(/\s+/).flatMap((w) => (w === "" ? [] : [[`${w} →`, 1]]))),
  ...crossedWords(exchange.asked, exchange.replied),
});

const withInstructions = (asked: string, added: readonly Checkable[]): string =>
  [asked, ...added.map(({ text }) => text)].filter((text) => text !== "").join(" ");

/** Writes an instruction, and keeps it only if the check on the reply says what was intended. */
function written(
  fn: InstructionFunction,
  reply: string,
  obeyed: boolean,
  random: Random,
): Checkable | undefined {
  const made = fn(reply, obeyed, random);
  return made?.obeys(reply) === obeyed ? made : undefined;
}

/**
 * Intra-sample: one reply y under two requests x_w and x_l, of which it obeys more of the first. For each pair, y is its preferred reply,
 * and G1 ⊂ G0 has 1 to `most` kinds, to both requests instructions of all kinds of G1 are added. Half of the rows: y obeys all of x_w and
 * not all of x_l; the other half: y obeys at least one of x_w and none of x_l.
 *
 *     L_intra = −mean ln σ(r(x_w, y) − r(x_l, y))
 *
 * No row where some instruction cannot be written.
 */
export function intraRows(
  pairs: readonly LabelledExchanges[],
  options: LevelOptions,
  random: Random,
): LogisticRow[] {
  const { functions, most = 3, featuresOf = requestAndReply } = options;
  return pairs.flatMap(({ first, second, y, weight }) => {
    const { asked, replied } = y >= 0.5 ? first : second;
    const chosen = shuffled(functions, random).slice(0, 1 + random.below(most));
    const some = 1 + random.below(chosen.length);
    const all = random.below(2) === 0;
    // obeyed in x_w and in x_l: all and fewer than all, or at least one and none
    const [inBetter, inWorse] = all ? [chosen.length, chosen.length - some] : [some, 0];
    const made = [inBetter, inWorse].map((obeyed) =>
      chosen.map((fn, i) => written(fn, replied, i < obeyed, random)),
    );
    const [better, worse] = made.map((list) => list.filter((x) => x !== undefined));
    if (better!.length + worse!.length < 2 * chosen.length) return [];
    const under = (added: readonly Checkable[]): Features =>
      featuresOf({ asked: withInstructions(asked, added), replied });
    return [{ x: difference(under(better!), under(worse!)), y: 1, weight }];
  });
}

/**
 * Inter-sample: the margin m(x) = r(x, y_w) − r(x, y_l) of a pair under its own request x and under x′, to which 1 to `most`
 * instructions are added that the preferred reply obeys and the other breaks (wider), or the reverse (narrower), each half of the time.
 *
 *     L_inter = −mean ln σ(m(x_wide) − m(x_narrow))
 *
 * No row where no instruction tells the two replies apart.
 */
export function interRows(
  pairs: readonly LabelledExchanges[],
  options: LevelOptions,
  random: Random,
): LogisticRow[] {
  const { functions, most = 3, featuresOf = requestAndReply } = options;
  return pairs.flatMap(({ first, second, y, weight }) => {
    const [winner, loser] = y >= 0.5 ? [first, second] : [second, first];
    const wider = random.below(2) === 0;
    const [obeying, breaking] = wider ? [winner, loser] : [loser, winner];
    const count = 1 + random.below(most);
    const added = shuffled(functions, random)
      .flatMap((fn) => written(fn, obeying.replied, true, random) ?? [])
      .filter((instruction) => !instruction.obeys(breaking.replied))
      .slice(0, count);
    if (added.length === 0) return [];
    const margin = (change: (asked: string) => string): Features =>
      difference(
        featuresOf({ ...winner, asked: change(winner.asked) }),
        featuresOf({ ...loser, asked: change(loser.asked) }),
      );
    const augmented = margin((asked) => withInstructions(asked, added));
    const original = margin((asked) => asked);
    const x = wider ? difference(augmented, original) : difference(original, augmented);
    return [{ x, y: 1, weight }];
  });
}
