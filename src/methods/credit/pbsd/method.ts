import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { noted } from "../../../feedback/fromAnnotation.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { evidenceWeighted } from "./evidenceWeighted.ts";
import { privilegedEvidence } from "./privilegedEvidence.ts";

export const pbsd = method({
  id: "pbsd",
  family: "credit",
  summary: "turns weighted by how much likelier they are for the policy that was told the answer",
  paper: "PBSD: Privileged Bayesian Self-Distillation for Long-Horizon Credit Assignment",
  mechanism:
    "An attempt is good as far as seeing it makes the verified answer likelier. By Bayes' rule that ratio is the one between the attempt's likelihood under the policy that was told the answer and under the policy itself, and it is a sum over turns. Each turn's part weights the outcome's advantage: supporting turns gain more of a success and lose less of a failure.",
  equation: [
    "ln p(y | τ) / p(y) = Σ_k s[k],  s[k] = ln π(a[k] | …, y) − ln π(a[k] | …)       y: answer",
    "z[k] = s[k] / |a[k]|, standardised over all turns of the group",
    "w[k] = clamp(exp(sign(A) z[k] / κ), 1/c, c), mean 1 over the attempt's tokens;  A[k] = w[k] A     κ = 1, c = 2",
  ].join("\n"),
  source:
    "the ratio and its parts from the paper; the map from evidence to weights, κ and c are ours, since its code is not public",
  slots: {
    annotate: privilegedEvidence(),
    feedback: [noted({ note: "evidence" }), outcome()],
    credit: perTurn(),
    advantage: [groupNormalised({ channels: ["outcome"] }), evidenceWeighted({ channel: "evidence" })],
  },
});
