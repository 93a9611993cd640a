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
  summary: "a critic of its own says one value per turn: advantages over a hundred turns and more",
  paper: "Odysseus: Scaling VLMs to 100+ Turn Decision-Making in Games via Reinforcement Learning",
  mechanism:
    "In episodes of a hundred turns the return of the whole says little about one action, and after the first turn the attempts of a group stand in different states. A separate critic reads the observation and says one value per turn; generalised advantages run over turns, not tokens, so that the horizon does not depend on how much is said, and all tokens of a turn share one. An episode that a limit cuts off goes on from its last value; a death does not.",
  equation: [
    "δ[k] = r[k] + γ V(o[k+1]) − V(o[k]),   A[k] = Σ_j (γ λ)^j δ[k+j]       over turns; γ = 0.99, λ = 0.95",
    "A ← (A − mean) / std                                                    over the batch",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A) + mean over turns of ½ (V(o[k]) − A[k] − V_old(o[k]))²",
  ].join("\n"),
  source:
    "critic on the observation and advantages per turn from descriptions of the paper; γ, λ, whitening and the critic's step size ours; its filter that keeps positive advantages alone, for unstable phases, is left out",
  needs: ["heads"],
  defaults: { criticRate: 2 },
  models: { critic: { from: "fresh", heads: ["value"] } },
  slots: (s) => ({
    annotate: values(),
    feedback: turnRewards({ unpaid: "zero" }),
    credit: perTurn(),
    advantage: [gae({ level: "turn", discount: 0.99, truncated: "value" }), whitened()],
    objective: [clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), valueRegression()],
  }),
});
