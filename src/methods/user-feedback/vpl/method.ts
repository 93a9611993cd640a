import { method, type Recipe } from "../../../method/method.ts";
import { nothing } from "../../../update/nothing.ts";
import { personalReward } from "./personalReward.ts";
import { type VariationalPreferenceOptions, variationalPreference } from "./variationalPreference.ts";

export const vplWith = (options: VariationalPreferenceOptions = {}): Recipe =>
  method({
    id: "vpl",
    family: "user-feedback",
    summary: "users' hidden tastes are inferred from a few comparisons, and rewards depend on them",
    paper: "Personalizing Reinforcement Learning from Human Feedback with Variational Preference Learning",
    mechanism:
      "People prefer different things; one reward fitted to all of their comparisons averages tastes away. Here an encoder that is blind to order reads a handful of one user's comparisons and gives a distribution over a hidden taste, and the reward is decoded with it; both are trained by how well some comparisons of a user explain others. Rewards of different tastes have different scales, so each thing counts by its chance of beating a random one. How sure the taste is says which question to ask next.",
    equation: [
      "q(z | votes) = N(μ, diag σ²),   (μ, ln σ²) read from mean_i tanh(W (better_i − worse_i))",
      "L = E_q[−ln σ(r(better, z) − r(worse, z))] + β KL(q ‖ N(0, 1))       other votes of the same user; β = 0.01",
      "R = mean over s′ of σ(r(s, z) − r(s′, z)),   r(s, z) = s · (w₀ + U z),   z = μ",
      "next question: argmax H(mean_z p(y | z)) − mean_z H(p(y | z))",
    ].join("\n"),
    source:
      "encoder, bound and scaling from the paper and its code in outline. Ours: differences of traits and a linear reward in place of language models' embeddings, no self-attention, no sphere that tastes are held to, β constant, and a policy that sees who asks and not z; tastes are learnt in the first iteration from what is known of the users practised with",
    helpers: { taste: variationalPreference(options) },
    slots: { feedback: personalReward() },
    phases: [
      {
        name: "tastes",
        from: 0,
        until: 1,
        slots: { feedback: personalReward({ learn: true }), update: nothing() },
      },
    ],
  });

export const vpl = vplWith();
