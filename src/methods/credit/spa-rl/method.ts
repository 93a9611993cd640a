import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { contributions } from "../../../feedback/contributions.ts";
import { ridge } from "../../../helper/ridge.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";

export const spaRl = method({
  id: "spa-rl",
  family: "credit",
  summary: "a helper learns contributions of turns that add up to the outcome, and practice is paid by them",
  paper: "SPA-RL: Reinforcing LLM Agents via Stepwise Progress Attribution",
  mechanism:
    "Episodes of the agent as it begins teach an estimator one number per turn, of which only the sum over an episode is asked: the outcome. Then every turn of practice is paid its contribution, so that a long way to a reward is marked, and the estimator learns on as the policy moves. Turns that change nothing are fined. A critic and generalised advantages do the rest.",
  equation: [
    "fit c:  mean over episodes of (Σ_t c_t − R)²",
    "r_t = α c_t − β (1 − g_t)          g_t = 1 where the action could be carried out; α = 1, β = 0.05",
    "δ_t = r_t + V_{t+1} − V_t,   A_t = δ_t + λ A_{t+1},   whitened over the batch        λ = 0.95",
  ].join("\n"),
  source:
    "sum to the outcome and places of rewards from the paper's code. Ours: a ridge regression on features of turns for the estimator, which is refitted where the paper freezes it; a fine where the paper pays 0.5 for every turn that changes something, which pays for never finishing; no penalty on the distance to a reference",
  models: { critic: { from: "fresh", heads: ["value"] } },
  helpers: { progress: ridge() },
  needs: ["heads"],
  slots: ({ clipLow: low, clipHigh: high }) => ({
    annotate: values(),
    feedback: contributions({ refit: true, fine: 0.05 }),
    credit: perTurn(),
    advantage: [gae({ level: "turn" }), whitened()],
    objective: [clippedRatio({ clip: { low, high } }), valueRegression()],
  }),
});
