import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { type OffPolicyActorCriticOptions, offPolicyActorCritic } from "./offPolicyActorCritic.ts";
import { type TwinCriticOptions, twinCritic } from "./twinCritic.ts";

/** ArCHer with other options for the update and for the critics' features. */
export const archerWith = (
  update: Omit<OffPolicyActorCriticOptions, "step"> = {},
  critic: TwinCriticOptions = {},
) =>
  method({
    id: "archer",
    family: "credit",
    summary: "off-policy critics over utterances from a replay buffer, policy gradient over their tokens",
    paper: "ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL",
    mechanism:
      "Each utterance is one action of a decision process over turns. Twin critics over observations and utterances are trained off-policy, by bootstrapping from a replay buffer of all turns so far, so a reward that was seen once propagates to the turns that led to it without another episode. The policy samples new utterances at replayed observations and follows the critics' advantage with a policy gradient over their tokens: many gradient steps for each episode played.",
    equation: [
      "Q_i(o, a) → r + γ V̄_i(o′),   V_i(o) → Q̄_i(o, ã)       ã ~ π(· | o), i = 1, 2; bars: slow copies, τ = 0.1",
      "A = min(Q_1, Q_2)(o, ã) − min(V_1, V_2)(o)              o: replayed, ã: sampled now",
      "loss = −A · Σ_j log π(ã[j] | o, ã[<j])",
    ].join("\n"),
    source:
      "targets, separate minima, resampled utterances, τ and the warm-up from the paper's code; critics that are linear in text features instead of a small encoder, γ = 0.95 and the numbers of steps are ours",
    baseline: "turn-ppo",
    helpers: { critic: twinCritic(critic) },
    slots: (s) => ({
      feedback: turnRewards({ unpaid: "zero" }),
      credit: perTurn(),
      advantage: [], // the update computes the critics' advantages on newly sampled utterances
      objective: policyGradient(),
      update: offPolicyActorCritic({
        ...update,
        step: {
          optimiser: s.optimiser,
          learningRate: s.learningRate,
          clip: s.gradientClip,
          epsilon: s.epsilon,
        },
      }),
    }),
  });

export const archer = archerWith();
