import { method } from "../../../method/method.ts";
import { qualityCurve } from "./qualityCurve.ts";

export const preGrpo = method({
  id: "pre-grpo",
  family: "credit",
  summary: "the whole curve of qualities is paid: its peak, how much of it was kept, how few turns it took",
  paper: "Generation Navigator: A State-Aware Agentic Framework for Image Generation",
  mechanism:
    "An agent edits an artefact that is scored after every turn. Paying the last or the best state alone hides how it came about: whether later turns spoilt what was reached, and how many turns were wasted. The reward adds to the peak what was retained of it and how directly it was reached, both gated by the peak, and the group advantage does the rest.",
  equation: [
    "q_0 … q_T qualities in [0, 1], t* the first best, P = q_t*",
    "Ret = 1 − (P − q_T) / P",
    "E   = 1 − (T − t*)/T_max − c · t*/T_max        0 where P < q_min",
    "R   = P + λ_r · P · Ret + λ_e · P · E          λ_r = 0.3, λ_e = 0.2, c = 0.25; 0 for an invalid action",
  ].join("\n"),
  source: "the three parts are the paper's; their forms, λ_r, λ_e and c are ours",
  slots: { feedback: qualityCurve() },
});
