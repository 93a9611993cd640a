import { pooledReturns } from "../../../advantage/pooledReturns.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { answerClusters } from "./answerClusters.ts";
import { inducedOutcome } from "./inducedOutcome.ts";

const scorer = "reference";

export const siop = method({
  id: "siop",
  family: "credit",
  summary: "the group's own answers as outcomes: turns are paid for making their cluster's answer likelier",
  paper: "Self-Induced Outcome Potential: Turn-Level Credit Assignment for Agents without Verifiers",
  mechanism:
    "No answer is verified. The attempts' final answers are gathered into clusters; a cluster is trusted by its size and by how well what its attempts were told supports its answer. Each turn is paid for how much likelier a frozen scorer finds the answers of the attempt's own cluster afterwards, times the trust, and the last turn for the trust itself.",
  equation: [
    "q[c] = m[c] exp(η r[c]) / Σ m exp(η r)         m: share of answers, r: support by observations, η = 1",
    "r[k] = q (ln(p[k + 1] + ε) − ln(p[k] + ε))     p: likelihood of the own cluster's answers before a turn",
    "r[last] = (1 − λ) q                            λ = 0.5",
    "z = (r − mean) / std over the rises, and over the last turns, of the group;  A[k] = Σ_{j ≥ k} γ^(j − k) z[j]      γ = 1",
  ].join("\n"),
  source:
    "η, λ, γ and three wordings per cluster from the paper's code; ours: the context is cut after the reply so that the asking turn is paid, the answering turn gets no rise, rises are at most 5 nats, rises and last turns in pools of their own, answers are compared as texts and an observation supports those that it contains, no penalty towards a reference policy",
  frozen: { [scorer]: {} },
  needs: ["freeze"],
  slots: {
    annotate: answerClusters({ scorer }),
    feedback: inducedOutcome(),
    credit: perTurn(),
    advantage: pooledReturns(),
  },
});
