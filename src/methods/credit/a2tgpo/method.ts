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
  summary: "normalises information gain per turn position in the group; informative turns get a wider clip",
  paper: "A^2TGPO: Agentic Turn-Group Policy Optimization with Adaptive Turn-level Clipping",
  mechanism:
    "Each turn's gain in the likelihood of the gold answer is compared only with gains at the same turn position, since early and late turns gain differently. Sums of later gains are divided by the square root of their number, so an early turn's advantage is no larger than a late one's. Every turn also gets the outcome's advantage, and the clip range of a turn's ratio is wider the more information the turn gained.",
  equation: [
    "IG[k] = P[k + 1] − P[k]                       P: likelihood of the gold answer before a turn",
    "z[k] = (IG[k] − mean) / std                   over the attempts of the group that have a turn k + 1",
    "C[k] = (1/√n) Σ_{j ≥ k} γ^(j − k) z[j]        n: gains added up; 0 on the last turn",
    "A[k] = z(outcome) + α C[k]                    α = 0.3, γ = 1",
    "clip: 1 − ε c, 1 + ε c,  c = 1 + β (2σ(z[k]) − 1), on one ratio per turn      β = 0.3",
  ].join("\n"),
  source: "α, β, γ and the turn's ratio from notes that quote the paper's code; ε is the baseline's (ours)",
  options: {
    gainWeight: { help: "weight of the advantage of information gain", default: 0.3, low: 0 },
    clipWidth: {
      help: "β, how far a clip range widens for an informative turn",
      default: 0.3,
      low: 0,
      high: 0.999,
    },
  },
  slots: ({ clipLow, clipHigh }, o) => ({
    annotate: goldLikelihood(),
    feedback: [informationGain(), outcome()],
    credit: perTurn(),
    advantage: [
      groupNormalised({ channels: ["outcome"] }),
      pooledReturns({
        channels: ["gain"],
        pool: "turn",
        accumulate: "root",
        weight: o.gainWeight,
        clipWidth: o.clipWidth,
      }),
    ],
    objective: clippedRatio({ clip: { low: clipLow, high: clipHigh }, level: "turn", widths: clipWidth }),
  }),
});
