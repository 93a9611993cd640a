import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";

export const dpo = method({
  id: "dpo",
  family: "baseline",
  summary: "direct preference optimisation: of two attempts the preferred one becomes likelier",
  paper: "Direct Preference Optimization: Your Language Model is Secretly a Reward Model",
  mechanism:
    "If preferences follow from a reward (Bradley–Terry), the policy that is best at it while staying near the reference has that reward as β times its log-ratio to the reference, up to a constant that is the same for all replies to a prompt. In the difference of a pair the constant cancels, so the policy is fitted to the votes directly, without a reward model. Pairs are sampled from the policy of the day and judged by the environment.",
  equation: [
    "h = ln π(w)/ref(w) − ln π(l)/ref(l)          w: preferred, l: other; sums over the tokens of a reply",
    "loss = −mean over pairs of ln σ(β h)         β = 0.1",
  ].join("\n"),
  source:
    "β is the paper's default; the paper learns from a fixed set of pairs, here they are sampled (ours)",
  frozen: { reference: {} },
  slots: { feedback: comparisons(), advantage: preferencePairs(), objective: pairwise() },
});
