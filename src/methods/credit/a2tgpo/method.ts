import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { clipWidth, pooledReturns } from "../../../advantage/pooledReturns.ts";
import { goldLikelihood } from "../../../annotate/goldLikelihood.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { informationGain } from "../../../feedback/informationGain.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";

export const a2tgpo = method({
  id: "a2tgpo",
  family: "credit",
  summary: "information gain against the same turn of the group; informative turns may move further",
  paper: "A^2TGPO: Agentic Turn-Group Policy Optimization with Adaptive Turn-level Clipping",
  mechanism:
    "Each turn's gain in likelihood of the gold answer is compared with the gains of the same turn alone, since early and late turns gain differently. Sums of later gains are divided by the root of their number, so that an early turn's advantage is no larger than a late one's. The outcome's advantage stands on every turn, and the clip of a turn's ratio is wider the more the turn told.",
  equation: [
    "IG[k] = P[k + 1] − P[k]                       P: likelihood of the gold answer before a turn",
    "z[k] = (IG[k] − mean) / std                   over the attempts of the group that have a turn k + 1",
    "C[k] = (1/√n) Σ_{j ≥ k} γ^(j − k) z[j]        n: gains added up; 0 on the last turn",
    "A[k] = z(outcome) + α C[k]                    α = 0.3, γ = 1",
    "clip: 1 − ε c, 1 + ε c,  c = 1 + β (2σ(z[k]) − 1), on one ratio per turn      β = 0.3",
  ].join("\n"),
  source: "α, β, γ and the turn's ratio from notes that quote the paper's code; ε is the baseline's (ours)",
  slots: ({ clipLow, clipHigh }) => ({
    annotate: goldLikelihood(),
    feedback: [informationGain(), outcome()],
    credit: perTurn(),
    advantage: [
      groupNormalised({ channels: ["outcome"] }),
      pooledReturns({ channels: ["gain"], pool: "turn", accumulate: "root", weight: 0.3, clipWidth: 0.3 }),
    ],
    objective: clippedRatio({ clip: { low: clipLow, high: clipHigh }, level: "turn", widths: clipWidth }),
  }),
});
