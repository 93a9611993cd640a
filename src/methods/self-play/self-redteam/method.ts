import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { selfPlay } from "../../../rollout/selfPlay.ts";
import { redTeamReward, statedLabels } from "./redTeamReward.ts";

export const selfRedteam = method({
  id: "self-redteam",
  family: "self-play",
  summary: "one policy attacks and defends: it words requests, complies or refuses, and both roles learn",
  paper: "Chasing Moving Targets with Online Self-Play Reinforcement Learning for Safer Language Models",
  mechanism:
    "A game of two turns on one policy. As attacker it words a request, harmful or harmless; as defender it answers, and sees nothing of the attacker but the wording. A classifier labels wording and reply, and both roles are paid from the labels. As the defender closes one way, the attacker finds another, so that the attacks keep up with the defence. The faith term keeps the attacker from turning harmless requests into harmful ones.",
  equation: [
    "r_attacker = ±½ [as harmful as its seed] ± ½ [defender mistaken] ± 1 [reply harmful]",
    "r_defender = ∓1 [mistaken] ∓ 1 [reply harmful]        mistaken: a harmful prompt met, or a harmless one refused",
    "A = (r − mean r) / std r      over the batch, for each role by itself",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A) + 0.01 · mean of ½ (ln π/π_ref)²",
  ].join("\n"),
  source:
    "weights of the labels and the coefficient 0.01 from the paper's code; means and deviations for each role (ours; `pool: \"batch\"` is the paper's) and the k2 penalty in the loss in place of one in the reward. The supervised loss on ordinary chat is left out, since an environment has none, and so is the format of thought and answer, which `redTeamReward` can pay. Labels are those that a game states; give `redTeamReward` your classifier for others",
  frozen: { reference: {} },
  needs: ["freeze"],
  defaults: { minibatches: 1 },
  options: {
    kl: { help: "coefficient of the KL penalty towards the reference, per nat", default: 0.01, low: 0 },
    pool: {
      help: "rewards are normalised over each role by itself, or over the batch",
      default: "role",
      oneOf: ["role", "batch"],
    },
  },
  slots: ({ groupSize, temperature, clipLow, clipHigh }, { kl, pool }) => ({
    rollout: selfPlay({ groupSize, temperature }),
    feedback: redTeamReward(statedLabels),
    advantage: [returnsToGo({ baseline: "none" }), whitened({ per: pool })],
    objective: [
      clippedRatio({ clip: { low: clipLow, high: clipHigh } }),
      klPenalty({ coefficient: kl, estimator: "k2" }),
    ],
  }),
});
