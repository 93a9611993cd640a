import { method, type Recipe } from "../../../method/method.ts";
import { nothing } from "../../../update/nothing.ts";
import { personalReward } from "./personalReward.ts";
import { type VariationalPreferenceOptions, variationalPreference } from "./variationalPreference.ts";

export const vplWith = (options: VariationalPreferenceOptions = {}): Recipe =>
  method({
    id: "vpl",
    family: "user-feedback",
    summary: "infers each user's latent preferences from a few comparisons and conditions the reward on them",
    paper: "Personalizing Reinforcement Learning from Human Feedback with Variational Preference Learning",
    mechanism:
      "People prefer different things; one reward fitted to all of their comparisons averages the differences away. Here a permutation-invariant encoder reads a few of one user's comparisons and gives a distribution over a latent taste vector, on which the reward is conditioned; both are trained so that some comparisons of a user predict others. Rewards of different tastes have different scales, so each item is scored by its probability of beating a random one. The uncertainty about the taste determines which question to ask next.",
    equation: [
      "q(z | votes) = N(μ, diag σ²),   (μ, ln σ²) read from mean_i tanh(W (better_i − worse_i))",
      "L = E_q[−ln σ(r(better, z) − r(worse, z))] + β KL(q ‖ N(0, 1))       other votes of the same user; β = 0.01",
      "R = mean over s′ of σ(r(s, z) − r(s′, z)),   r(s, z) = s · (w₀ + U z),   z = μ",
      "next question: argmax H(mean_z p(y | z)) − mean_z H(p(y | z))",
    ].join("\n"),
    source:
      "encoder, bound and scaling from the paper and its code in outline. Ours: differences of traits and a linear reward in place of language models' embeddings, no self-attention, no constraint of tastes to a sphere, constant β, and a policy that sees the user's identity and not z; tastes are learnt in the first iteration from the known comparisons of the training users",
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
