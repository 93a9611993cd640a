import { pooledReturns } from "../../../advantage/pooledReturns.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { answerClusters } from "./answerClusters.ts";
import { inducedOutcome } from "./inducedOutcome.ts";

const scorer = "reference";

export const siop = method({
  id: "siop",
  family: "credit",
  summary: "rewards turns for raising the likelihood of their own answer cluster; no verifier is needed",
  paper: "Self-Induced Outcome Potential: Turn-Level Credit Assignment for Agents without Verifiers",
  mechanism:
    "No answer is verified. The attempts' final answers are clustered; the confidence in a cluster depends on its size and on how well the observations of its attempts support its answer. Each turn's reward is the increase of the likelihood that a frozen scorer gives to the answers of the attempt's own cluster, times the confidence; the last turn's reward is the confidence itself.",
  equation: [
    "q[c] = m[c] exp(η r[c]) / Σ m exp(η r)         m: share of answers, r: support by observations, η = 1",
    "r[k] = q (ln(p[k + 1] + ε) − ln(p[k] + ε))     p: likelihood of the own cluster's answers before a turn",
    "r[last] = (1 − λ) q                            λ = 0.5",
    "z = (r − mean) / std over the increases, and over the last turns, of the group;  A[k] = Σ_{j ≥ k} γ^(j − k) z[j]      γ = 1",
  ].join("\n"),
  source:
    "η, λ, γ and three wordings per cluster from the paper's code; ours: the context is cut after the reply so that the turn that asked is rewarded, the answering turn gets no increase, increases are at most 5 nats, increases and last turns are normalised separately, answers are compared as texts and an observation supports the answers that it contains, no KL penalty towards a reference policy",
  frozen: { [scorer]: {} },
  needs: ["freeze"],
  slots: {
    annotate: answerClusters({ scorer }),
    feedback: inducedOutcome(),
    credit: perTurn(),
    advantage: pooledReturns(),
  },
});
