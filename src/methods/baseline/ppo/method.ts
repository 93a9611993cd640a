import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";

export const ppo = method({
  id: "ppo",
  family: "baseline",
  summary:
    "proximal policy optimisation: a critic's value before each token, generalised advantage estimation",
  paper: "Proximal Policy Optimization Algorithms",
  mechanism:
    "A critic, a separate model, learns the return that follows each token. A token's advantage is how much better the outcome was than the critic expected, summed over later tokens with exponentially decaying weights: a little bias for much less variance than the whole return has. Credit therefore differs along an episode, and one attempt per task is enough.",
  equation: [
    "δ[a] = r[a] + γ V[a + 1] − V[a],   A[a] = δ[a] + γ λ A[a + 1]           a: action tokens; γ = 1, λ = 0.95",
    "A ← (A − mean(A)) / std(A)                                              over the batch",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)",
    "critic: mean over tokens of ½ (V[a] − (A[a] + V_old[a]))²",
  ].join("\n"),
  source:
    'ε and λ from the paper; γ = 1 as is usual for language models ("Training language models to follow instructions with human feedback"); whitening from the paper\'s code; the same step size for policy and critic as in that code; a tabular critic needs a smaller one (criticRate)',
  models: { critic: { from: "fresh", heads: ["value"] } },
  needs: ["heads"],
  options: {
    discount: { help: "γ, discount per token", default: 1, low: 0, high: 1 },
    lambda: { help: "λ of generalised advantage estimation", default: 0.95, low: 0, high: 1 },
  },
  slots: (s, o) => ({
    annotate: values(),
    feedback: turnRewards({ unpaid: "zero" }),
    credit: perTurn(),
    advantage: [gae({ discount: o.discount, lambda: o.lambda }), whitened()],
    objective: [clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), valueRegression()],
  }),
});
