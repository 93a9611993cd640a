import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { type OffPolicyActorCriticOptions, offPolicyActorCritic } from "./offPolicyActorCritic.ts";
import { type TwinCriticOptions, twinCritic } from "./twinCritic.ts";

/** ArCHer, with critics that see what they are told to. */
export const archerWith = (
  update: Omit<OffPolicyActorCriticOptions, "step"> = {},
  critic: TwinCriticOptions = {},
) =>
  method({
    id: "archer",
    family: "credit",
    summary: "off-policy critics of whole utterances from a replay, a policy gradient on the tokens within",
    paper: "ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL",
    mechanism:
      "Each utterance is one action of a decision process over turns. Twin critics of observations and utterances learn it off-policy from a replay of all turns so far, by bootstrapping, so that a reward that was met once spreads over the turns that led to it, without another episode. The policy follows their advantage with a policy gradient on the tokens of utterances that it makes afresh at replayed observations: many steps of learning for each episode that is played.",
    equation: [
      "Q_i(o, a) → r + γ V̄_i(o′),   V_i(o) → Q̄_i(o, ã)       ã ~ π(· | o), i = 1, 2; bars: slow copies, τ = 0.1",
      "A = min(Q_1, Q_2)(o, ã) − min(V_1, V_2)(o)              o: replayed, ã: sampled now",
      "loss = −A · Σ_j log π(ã[j] | o, ã[<j])",
    ].join("\n"),
    source:
      "targets, minima taken apart, resampled utterances, τ and the warm-up from the paper's code; critics are linear over features of texts instead of a small encoder, γ = 0.95 and the numbers of steps are ours",
    baseline: "turn-ppo",
    helpers: { critic: twinCritic(critic) },
    slots: (s) => ({
      feedback: turnRewards({ unpaid: "zero" }),
      credit: perTurn(),
      advantage: [], // the critics' are made where the policy speaks afresh
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
