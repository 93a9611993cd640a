import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { RowInfo } from "../../../core/batch.ts";
import type { Able } from "../../../core/evaluator.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { restricted } from "../../../objective/restricted.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { verdictRewards } from "./verdictRewards.ts";
import { verdictScore, verdictWords } from "./verdictScore.ts";
import { withVerdictRows } from "./withVerdictRows.ts";

const isVerdict = ({ origin }: RowInfo): boolean => origin === "demonstrated";

/** Sequence-level ratios on rewards of tests and a verifier. @param floor smallest deviation that a group's rewards are divided by. */
export const verified = (
  verifier: Able<"score">,
  { clipLow: low, clipHigh: high }: Settings,
  floor: number,
): Pick<SlotChoices, "feedback" | "advantage"> & { readonly objective: ReturnType<typeof clippedRatio> } => ({
  feedback: verdictRewards({ verifier }),
  advantage: groupNormalised({ floor }),
  objective: clippedRatio({ level: "sequence", normaliser: "rows", clip: { low, high } }),
});

export const sweRm = method({
  id: "swe-rm",
  family: "judges",
  summary: "adds a verifier's probability of YES, which needs no execution, to the tests' outcome",
  paper: "SWE-RM: Execution-free Feedback For Software Engineering Agents",
  mechanism:
    "A second model reads a whole trajectory and says one word, YES or NO; the probability of YES among the two is a score in [0, 1]. It learns by cross-entropy on that word alone, with the tests' outcomes as labels. The reward of an attempt adds the score to the outcome of its tests: attempts that pass stay ahead of those that do not, and within each kind the score orders them. Verifiers of equal best-of-k differ as rewards, so that their discrimination (area under the curve) and calibration error belong to their description.",
  equation: [
    "s(τ) = exp(l_yes) / (exp(l_yes) + exp(l_no))                     l: ln p of the verdict after τ and a fixed question",
    "R = 1 + s where the tests pass,  s − ½ where a limit was reached,  s otherwise",
    "A = (R − mean R) / max(std R, floor)                              over the group; ratios per sequence (GSPO)",
    "loss of the verifier = −mean over attempts of w ln p(v | τ)       Σ w over YES = 2 Σ w over NO",
  ].join("\n"),
  source:
    "score, reward and the 2 : 1 mix from notes on the paper. The verifier learns during the run from the policy's own attempts, where the paper trains it before on trajectories of several policies and then freezes it; the mix is made by weights; a floor of 0.1 on a group's deviation keeps the score's small differences from becoming full-size advantages where all tests agree (all ours). For a verifier of your own: `verified`",
  models: { verifier: { from: "policy" } },
  needs: ["fork"],
  says: [`${verdictWords.question} ${verdictWords.yes} ${verdictWords.no}`],
  defaults: { clipLow: 0.1, clipHigh: 0.13 },
  options: {
    floor: { help: "smallest deviation that a group's rewards are divided by", default: 0.1, low: 1e-6 },
    ratio: {
      help: "weight of resolved attempts in the verifier's loss, against all others",
      default: 2,
      low: 1e-6,
    },
  },
  slots: (s, { floor, ratio }) => {
    const { objective, ...slots } = verified(verdictScore(), s, floor);
    return {
      ...slots,
      rollout: withVerdictRows(multiTurn({ groupSize: s.groupSize, temperature: s.temperature }), { ratio }),
      objective: [
        restricted(objective, (row) => !isVerdict(row)),
        restricted(likelihood({ normaliser: "tokens" }), isVerdict),
      ],
    };
  },
});
