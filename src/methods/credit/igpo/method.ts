import { pooledReturns } from "../../../advantage/pooledReturns.ts";
import { goldLikelihood } from "../../../annotate/goldLikelihood.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { informationGain } from "../../../feedback/informationGain.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";

export const igpo = method({
  id: "igpo",
  family: "credit",
  summary: "rewards each turn by how much its observation raises the likelihood of the gold answer",
  paper:
    "Information Gain-based Policy Optimization: A Simple and Effective Approach for Multi-Turn LLM Agents",
  mechanism:
    "After every turn the policy scores, without a gradient, the likelihood of the gold answer in its current context. The increase over the previous turn is the turn's reward; the last turn gets the outcome. Rewards are normalised within the group and accumulated backwards, so useful and useless searches get different credit even where every attempt of a group fails.",
  equation: [
    "P[k] = exp((1/|y|) Σ_j ln π(y[j] | prompt of turn k, opening, y[<j])      y: gold answer",
    "r[k] = P[k + 1] − P[k] for k < T − 1,  r[T − 1] = outcome                  T: turns",
    "z = (r − mean) / std        gains over all turns of the group, outcomes over its attempts",
    "A[k] = Σ_{j ≥ k} γ^(j − k) z[j],  on the tokens of turn k                  γ = 1",
  ].join("\n"),
  source:
    "likelihood, differences and γ from the paper and its code; gains and outcomes normalised separately as in a later re-implementation; no KL penalty towards a reference policy (ours: its coefficient is 0.001)",
  options: {
    discount: { help: "γ, discount per turn", default: 1, low: 0, high: 1 },
  },
  slots: (_s, o) => ({
    annotate: goldLikelihood(),
    feedback: [informationGain(), outcome()],
    credit: perTurn(),
    advantage: pooledReturns({ discount: o.discount }),
  }),
});
