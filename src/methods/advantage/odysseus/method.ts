import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";

export const odysseus = method({
  id: "odysseus",
  family: "advantage",
  summary: "a separate critic with one value per turn: GAE over a hundred turns and more",
  paper: "Odysseus: Scaling VLMs to 100+ Turn Decision-Making in Games via Reinforcement Learning",
  mechanism:
    "In episodes of a hundred turns the return says little about a single action, and after the first turn the attempts of a group are in different states. A separate critic reads the observation and predicts one value per turn; GAE runs over turns, not tokens, so the horizon does not depend on the number of tokens, and all tokens of a turn share one advantage. An episode truncated by a limit bootstraps from its last value; one that ends in death does not.",
  equation: [
    "δ[k] = r[k] + γ V(o[k+1]) − V(o[k]),   A[k] = Σ_j (γ λ)^j δ[k+j]       over turns; γ = 0.99, λ = 0.95",
    "A ← (A − mean) / std                                                    over the batch",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A) + mean over turns of ½ (V(o[k]) − A[k] − V_old(o[k]))²",
  ].join("\n"),
  source:
    "critic on the observation and advantages per turn from descriptions of the paper; γ, λ, whitening and the critic's step size are ours; the paper's filter for unstable phases, which keeps only positive advantages, is left out",
  needs: ["heads"],
  defaults: { criticRate: 2 },
  models: { critic: { from: "fresh", heads: ["value"] } },
  options: {
    discount: { help: "γ, discount per turn", default: 0.99, low: 0, high: 1 },
    lambda: { help: "λ of generalised advantage estimation", default: 0.95, low: 0, high: 1 },
  },
  slots: (s, o) => ({
    annotate: values(),
    feedback: turnRewards({ unpaid: "zero" }),
    credit: perTurn(),
    advantage: [
      gae({ level: "turn", discount: o.discount, lambda: o.lambda, truncated: "value" }),
      whitened(),
    ],
    objective: [clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), valueRegression()],
  }),
});
