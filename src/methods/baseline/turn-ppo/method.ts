import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";

export const turnPpo = method({
  id: "turn-ppo",
  family: "baseline",
  summary: "PPO with turns as steps: one value before each turn, one advantage for all of its tokens",
  paper: "Turn-PPO: Turn-Level Advantage Estimation with PPO for Improved Multi-Turn RL in Agentic LLMs",
  mechanism:
    "An environment responds to whole turns, and changes the state between them. With turns as steps, the critic evaluates states that are separated by observations instead of half-written sentences, and λ decays per turn instead of per token, so credit does not depend on the number of tokens of an action.",
  equation: [
    "δ[k] = r[k] + γ V[k + 1] − V[k],   A[k] = δ[k] + γ λ A[k + 1]           k: turns; V read before the first token",
    "A ← (A − mean(A)) / std(A)                                              over the batch's tokens",
    "critic: mean over turns of ½ (V[k] − (A[k] + V_old[k]))²                 γ = 1, λ = 0.95",
  ].join("\n"),
  source:
    "turns as steps from the paper; ratios stay per token; γ, λ, ε and the critic's step size as in ppo (ours)",
  baseline: "ppo",
  models: { critic: { from: "fresh", heads: ["value"] } },
  needs: ["heads"],
  options: {
    discount: { help: "γ, discount per turn", default: 1, low: 0, high: 1 },
    lambda: { help: "λ of generalised advantage estimation", default: 0.95, low: 0, high: 1 },
  },
  slots: (s, o) => ({
    annotate: values(),
    feedback: turnRewards({ unpaid: "zero" }),
    credit: perTurn(),
    advantage: [gae({ level: "turn", discount: o.discount, lambda: o.lambda }), whitened()],
    objective: [clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), valueRegression()],
  }),
});
