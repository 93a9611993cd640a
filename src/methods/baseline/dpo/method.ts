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
    "loss = −mean over pairs of [ln σ(β h) + α ln π(w) / |w|]          β = 0.1, α = 0",
  ].join("\n"),
  source:
    "β is the paper's default; the paper learns from a fixed set of pairs, here pairs are sampled from the policy (ours); the term with α is that of Iterative Reasoning Preference Optimization",
  frozen: { reference: {} },
  learnsFrom: { kind: "pair" },
  options: {
    beta: {
      help: "β, strength of the regularisation towards the reference",
      default: 0.1,
      low: 1e-6,
      high: 1e6,
    },
    imitation: {
      help: "α, weight of the likelihood of the preferred attempt beside the loss",
      default: 0,
      low: 0,
      high: 1e6,
    },
  },
  slots: (_s, o) => ({
    feedback: comparisons(),
    advantage: preferencePairs(),
    objective: pairwise({ beta: o.beta, imitation: o.imitation }),
  }),
});
