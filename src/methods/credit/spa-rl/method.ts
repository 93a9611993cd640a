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
  summary: "an estimator learns per-turn contributions that sum to the outcome; they are the turn rewards",
  paper: "SPA-RL: Reinforcing LLM Agents via Stepwise Progress Attribution",
  mechanism:
    "An estimator is trained on episodes of the initial agent. It predicts one number per turn, and only the sum over an episode is fitted: to the outcome. Every turn of training is then rewarded by its contribution, which makes a distant reward dense, and the estimator is refitted as the policy changes. Turns that change nothing are penalised. Advantages come from a critic by GAE.",
  equation: [
    "fit c:  mean over episodes of (Σ_t c_t − R)²",
    "r_t = α c_t − β (1 − g_t)          g_t = 1 where the action could be carried out; α = 1, β = 0.05",
    "δ_t = r_t + V_{t+1} − V_t,   A_t = δ_t + λ A_{t+1},   whitened over the batch        λ = 0.95",
  ].join("\n"),
  source:
    "the sum to the outcome and the reward positions from the paper's code. Ours: the estimator is a ridge regression on features of turns, and is refitted where the paper freezes it; a penalty where the paper pays 0.5 for every turn that changes something, which rewards never finishing; no KL penalty towards a reference",
  models: { critic: { from: "fresh", heads: ["value"] } },
  helpers: { progress: ridge() },
  needs: ["heads"],
  options: {
    fine: { help: "penalty for a turn that changed nothing, in units of the outcome", default: 0.05, low: 0 },
    explore: { help: "first iterations, which only fit the estimator", default: 20, low: 0, whole: true },
  },
  slots: ({ clipLow: low, clipHigh: high }, o) => ({
    annotate: values(),
    feedback: contributions({ refit: true, fine: o.fine, explore: o.explore }),
    credit: perTurn(),
    advantage: [gae({ level: "turn" }), whitened()],
    objective: [clippedRatio({ clip: { low, high } }), valueRegression()],
  }),
});
