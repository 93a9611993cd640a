import { bradleyTerry } from "../../../helper/bradleyTerry.ts";
import { method } from "../../../method/method.ts";
import { listwiseScores } from "./listwise.ts";
import { verifiedReward } from "./verifiedReward.ts";

export const qwen25mathRmLoop = method({
  id: "qwen25math-rm-loop",
  family: "judges",
  summary: "a reward model orders right attempts, and wrong ones, but never lifts one above the other",
  paper: "Qwen2.5-Math Technical Report: Toward Mathematical Expert Model via Self-Improvement",
  mechanism:
    "A reward model learns from lists of attempts which of them a verifier accepted. In training its score shapes the verifier's reward: right attempts lie between 0 and 1 and wrong ones between −1 and 0, each kind in the model's order. So the model says what a right or wrong verdict leaves open, and what it overrates cannot outrank what is right. The policy's new attempts are the model's next lists.",
  equation: [
    "r = σ(α r_m) + r_v − 1                                     r_m: reward model, r_v: 1 if right, else 0; α = 0.5",
    "L = −Σ over lists 1/(k (n − k)) Σ over right p, wrong q of ln σ(r_m(p) − r_m(q))          k of n right",
    "A = (r − mean r) / std r                                   over the group",
  ].join("\n"),
  source:
    "the shaped reward from a public re-implementation, the list loss reconstructed; lists are the policy's own attempts at a task, and the model learns while the policy does, where the paper alternates in rounds (ours). The rounds of imitation, the choice of queries (some right, some wrong), the KL penalty (a coefficient of about 1e-3) and the ranking at inference are left out. In the check the world gives the scores of a reward model: what is measured is the shaped reward, and L is not fitted there. A linear model of crossed words stands in for a language model's head; for a reward model of your own: `verifiedReward`",
  helpers: { reward: bradleyTerry() },
  options: {
    alpha: { help: "α, how far the reward model spreads each half", default: 0.5, low: 1e-6, high: 1e6 },
  },
  slots: (_s, { alpha }) => ({ feedback: verifiedReward(listwiseScores(), alpha) }),
});
