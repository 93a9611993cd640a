import { method } from "../../../method/method.ts";
import { qualityCurve } from "./qualityCurve.ts";

export const preGrpo = method({
  id: "pre-grpo",
  family: "credit",
  summary: "rewards the curve of quality over turns: its peak, how much was retained, how few turns it took",
  paper: "Generation Navigator: A State-Aware Agentic Framework for Image Generation",
  mechanism:
    "An agent edits an artefact that is scored after every turn. Rewarding only the last or the best state ignores whether later turns lost quality and how many turns were wasted. The reward adds to the peak how much of it was retained and how directly it was reached, both multiplied by the peak. Advantages are group-relative as in GRPO.",
  equation: [
    "q_0 … q_T qualities in [0, 1], t* the first best, P = q_t*",
    "Ret = 1 − (P − q_T) / P",
    "E   = 1 − (T − t*)/T_max − c · t*/T_max        0 where P < q_min",
    "R   = P + λ_r · P · Ret + λ_e · P · E          λ_r = 0.3, λ_e = 0.2, c = 0.25; 0 for an invalid action",
  ].join("\n"),
  source: "the three parts are the paper's; their forms, λ_r, λ_e and c are ours",
  slots: { feedback: qualityCurve() },
});
