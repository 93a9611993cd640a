import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { candidatesPerState } from "../../../rollout/candidatesPerState.ts";
import { entropyReduction } from "./entropyReduction.ts";

export const nous = method({
  id: "nous",
  family: "user-feedback",
  summary: "rewards a question by how many nats its answer reduces the entropy over the user's intent",
  paper: "Dialogue as Discovery: Navigating Human Intent Through Principled Inquiry",
  mechanism:
    "The user's intent is a point in a space of slots and values, over which an exact belief is kept. Every answer reduces the belief's entropy, and the reduction in nats is the question's immediate reward, without labels or a reward model. Candidate questions at one state of a dialogue are compared with each other. The rewards of every completed dialogue have the same sum, which says nothing about speed, so each reward counts only for its own turn.",
  equation: [
    "b'[k](v) ∝ b[k](v) p(answer | v)                        b: belief, slots k independent, uniform at first",
    "H(b) = −Σ_k Σ_v b[k](v) ln b[k](v)",
    "r[t] = H(b[t]) − H(b[t + 1])                            ln |V| for a slot resolved, ln(n/m) narrowed from n to m",
    "A[t] = (r[t] − mean r[t]) / std r[t]                    over the candidates at one state, on the tokens of turn t",
    "loss = clipped ratio with A + 0.01 KL(π ‖ reference)",
  ].join("\n"),
  source:
    "belief, reward and groups per state are the paper's, constants ours; states come from a new dialogue of the current policy in each iteration, where the paper stores them beforehand",
  frozen: { reference: {} },
  slots: ({ clipLow, clipHigh, groupSize, temperature }) => ({
    rollout: candidatesPerState({ candidates: groupSize, temperature }),
    feedback: entropyReduction(),
    credit: perTurn(),
    advantage: returnsToGo({ discount: 0, baseline: "turn", normalise: true }),
    objective: [clippedRatio({ clip: { low: clipLow, high: clipHigh } }), klPenalty()],
  }),
});
