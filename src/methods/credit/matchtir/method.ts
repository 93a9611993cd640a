import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { toolMatching } from "./toolMatching.ts";

export const matchtir = method({
  id: "matchtir",
  family: "credit",
  summary: "matches tool calls one to one with reference calls; averages turn and trajectory advantages",
  paper: "MatchTIR: Fine-Grained Supervision for Tool-Integrated Reasoning via Bipartite Matching",
  mechanism:
    "Every call of an attempt is compared with every reference call, and the two are matched one to one. A call earns the similarity of its match, so a repeated or useless call earns nothing. Each turn's discounted return is compared with those of the same turn of the group, and averaged with the advantage of the whole attempt.",
  equation: [
    "S(p, g) = (1 + J(keys) + equal values) / (2 + |keys of g|), 0 if the names differ      J: Jaccard",
    "r[k] = mean of S over the matched calls of turn k, unmatched 0;  r[T] = outcome",
    "D[k] = Σ_{j ≥ k} λ^(j − k) r[j]                                                         λ = 0.9",
    "A[k] = (z(Σ r) over the group + z(D[k]) over the same turn of the group) / 2",
  ].join("\n"),
  source:
    "similarity, λ and the average from the paper's code, which matches greedily (ours: the best assignment) and gives a turn without peers its raw return (ours: 0); no entropy bonus and no KL penalty towards a reference policy (their coefficients are 0.001)",
  options: {
    discount: { help: "λ, discount per turn", default: 0.9, low: 0, high: 1 },
    share: {
      help: "weight of the advantage per turn; the rest is that of the whole attempt",
      default: 0.5,
      low: 0,
      high: 1,
    },
  },
  slots: (_s, o) => ({
    feedback: [toolMatching(), outcome()],
    credit: perTurn(),
    advantage: [
      groupNormalised({ weight: 1 - o.share }),
      returnsToGo({ discount: o.discount, normalise: true, weight: o.share }),
    ],
  }),
});
