import { comparedReward } from "../../../feedback/comparedReward.ts";
import { method } from "../../../method/method.ts";
import { goalReward } from "./goalReward.ts";

export const goalRm = method({
  id: "goal-rm",
  family: "judges",
  summary: "a reward model whose states resemble the later states of preferred replies",
  paper: "Learning Goal-Conditioned Representations for Language Reward Models",
  mechanism:
    "Beside the preference loss, the states of a reward model are trained by contrast: a state of a preferred reply shall resemble a later state of the same reply, and no state of the rejected one. The resemblance of an unfinished reply to the mean last state of good ones then estimates whether it will be good, and bad ones can be dropped early. The policy is trained on the reward model.",
  equation: [
    "L = −ln σ(r(x, y⁺) − r(x, y⁻)) + λ L_C                     r: read from the last state; λ = 0.5",
    "L_C = −ln σ(f(h_i⁺, h_j⁺)) − ln σ(−f(h_i⁺, h_l⁻))           f = cos / T, j > i, T = 0.3",
    "G = mean last state of good replies,   Q(prefix) = cos(h_prefix, G)",
    "A = (r − mean r) / std r                                   over the group",
  ].join("\n"),
  source:
    "the contrast and the goal state reconstructed from the paper's abstract; P(j − i = k) ∝ 2^−k, λ, T and a small recurrent network on words in place of a language model are ours, as is the online loop that compares the policy's own attempts; filtered voting, steering by Q, and the same contrast from the side of the rejected reply are left out. The check measures the reward model on unfinished replies; the online loop does not run there",
  helpers: { reward: goalReward() },
  slots: { feedback: comparedReward() },
});
