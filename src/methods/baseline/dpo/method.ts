import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";

export const dpo = method({
  id: "dpo",
  family: "baseline",
  summary: "direct preference optimisation: raises the likelihood of the preferred attempt of each pair",
  paper: "Direct Preference Optimization: Your Language Model is Secretly a Reward Model",
  mechanism:
    "If preferences follow from a reward (Bradley–Terry), then for the KL-regularised optimal policy that reward equals β times the log-ratio of policy to reference, up to a constant that is the same for all replies to a prompt. In the difference of a pair the constant cancels, so the policy is fitted to the preferences directly, without a reward model. Pairs are sampled from the current policy and compared by the environment.",
  equation: [
    "h = ln π(w)/ref(w) − ln π(l)/ref(l)          w: preferred, l: other; sums over the tokens of a reply",
    "loss = −mean over pairs of ln σ(β h)         β = 0.1",
  ].join("\n"),
  source:
    "β is the paper's default; the paper learns from a fixed set of pairs, here pairs are sampled from the policy (ours)",
  frozen: { reference: {} },
  learnsFrom: { kind: "pair" },
  slots: { feedback: comparisons(), advantage: preferencePairs(), objective: pairwise() },
});
