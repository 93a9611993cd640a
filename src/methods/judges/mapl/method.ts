import { comparedReward } from "../../../feedback/comparedReward.ts";
import { type BradleyTerryOptions, bradleyTerry } from "../../../helper/bradleyTerry.ts";
import { method } from "../../../method/method.ts";
import { ending, type InstructionFunction, keyword, lengthLimit } from "./checkable.ts";
import { interRows, intraRows, requestAndReply } from "./multiLevel.ts";

export interface MaplOptions extends BradleyTerryOptions {
  /** Kinds of checkable instruction. Default: keywords, lengths and endings, with the words of the compared replies. */
  readonly functions?: readonly InstructionFunction[];
  /** a, coefficient of the intra-sample loss. Default 1. */
  readonly intra?: number;
  /** b, coefficient of the inter-sample loss. Default 1. */
  readonly inter?: number;
  /** Largest number of instructions that are added to a request. Default 3. */
  readonly most?: number;
}

/** The reward model of MAPL: Bradley–Terry on replies, on instructions and on pairs. */
export function multiLevelReward(options: MaplOptions = {}): ReturnType<typeof bradleyTerry> {
  const { functions: given, intra = 1, inter = 1, most = 3, ...model } = options;
  return bradleyTerry({
    featuresOf: requestAndReply,
    ...model,
    terms: (pairs, random) => {
      const words = [
        ...new Set(pairs.flatMap(({ first, second }) => `${first.replied} ${second.replied}`.split(/\s+/))),
      ].filter((word) => word !== "");
      const functions = given ?? [keyword(words), lengthLimit(), ending(words)];
      const level = { functions, most, ...(model.featuresOf && { featuresOf: model.featuresOf }) };
      return [
        { coefficient: intra, rows: intra === 0 ? [] : intraRows(pairs, level, random.split("intra")) },
        { coefficient: inter, rows: inter === 0 ? [] : interRows(pairs, level, random.split("inter")) },
      ];
    },
  });
}

export const mapl = method({
  id: "mapl",
  family: "judges",
  summary:
    "a reward model of several instructions at once, from preferences between prompts and between pairs",
  paper: "Multi-Level Aware Preference Learning: Enhancing RLHF for Complex Multi-Instruction Tasks",
  mechanism:
    "Comparisons of replies teach little about requests with many instructions. Two further levels are made from the same comparisons with instructions that a rule can check (keywords, lengths, endings). Intra-sample: one reply is held fixed and two requests are compared, of which it obeys more of the first. Inter-sample: instructions are added that widen or narrow the difference of a pair, and the two margins are compared. No annotator is asked again. The policy is trained on the reward model.",
  equation: [
    "L = L_BT + a L_intra + b L_inter                           a = b = 1",
    "L_BT    = −mean ln σ(r(x, y_w) − r(x, y_l))",
    "L_intra = −mean ln σ(r(x_w, y) − r(x_l, y))                y obeys all of x_w and not all of x_l, or some of x_w and none of x_l",
    "L_inter = −mean ln σ(m(x_wide) − m(x_narrow))              m(x) = r(x, y_w) − r(x, y_l)",
    "A = (r − mean r) / std r                                   over the group",
  ].join("\n"),
  source:
    "construction and intra loss from a public review of the paper; inter loss, equal shares of its two directions and a = b = 1 reconstructed. A linear model of crossed words in place of a language model's head, and the online loop that compares the policy's own attempts, are ours; the variant with DPO is left out",
  helpers: { reward: multiLevelReward() },
  slots: { feedback: comparedReward() },
});
