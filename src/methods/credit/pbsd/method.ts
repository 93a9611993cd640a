import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { fromAnnotation } from "../../../feedback/fromAnnotation.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { evidenceWeighted } from "./evidenceWeighted.ts";
import { privilegedEvidence } from "./privilegedEvidence.ts";

export const pbsd = method({
  id: "pbsd",
  family: "credit",
  summary:
    "weights turns by their likelihood ratio between the policy with and without the answer in context",
  paper: "PBSD: Privileged Bayesian Self-Distillation for Long-Horizon Credit Assignment",
  mechanism:
    "An attempt is good to the degree that it raises the likelihood of the verified answer. By Bayes' rule that ratio equals the likelihood ratio of the attempt under the policy with the answer in context and under the policy without it, and its logarithm is a sum over turns. Each turn's term weights the outcome's advantage: supporting turns get more credit for a success and less blame for a failure.",
  equation: [
    "ln p(y | τ) / p(y) = Σ_k s[k],  s[k] = ln π(a[k] | …, y) − ln π(a[k] | …)       y: answer",
    "z[k] = s[k] / |a[k]|, standardised over all turns of the group",
    "w[k] = clamp(exp(sign(A) z[k] / κ), 1/c, c), mean 1 over the attempt's tokens;  A[k] = w[k] A     κ = 1, c = 2",
  ].join("\n"),
  source:
    "the ratio and its parts from the paper; the map from evidence to weights, κ and c are ours, since its code is not public",
  options: {
    limit: { help: "largest weight of a turn; its inverse is the smallest", default: 2, low: 1 },
  },
  slots: (_s, o) => ({
    annotate: privilegedEvidence(),
    feedback: [fromAnnotation({ note: "evidence" }), outcome()],
    credit: perTurn(),
    advantage: [
      groupNormalised({ channels: ["outcome"] }),
      evidenceWeighted({ channel: "evidence", limit: o.limit }),
    ],
  }),
});
