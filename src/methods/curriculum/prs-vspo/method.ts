import { method } from "../../../method/method.ts";
import { progressive } from "./progressive.ts";
import { valueSampled } from "./valueSampled.ts";

export const prsVspo = method({
  id: "prs-vspo",
  family: "curriculum",
  summary: "staged rewards, and places of groups without a difference go to hard, uncertain tasks",
  paper: "Enhancing Agentic RL with Progressive Reward Shaping and Value-based Sampling Policy Optimization",
  mechanism:
    "The reward has stages, each reachable only through the one before: readable calls, the right form, then the quality of the answer by its overlap with the reference. A group whose rewards are all equal hands its place in the batch on: places are drawn again among the other groups in proportion to a value, difficulty times uncertainty. What a group gains by that is smoothed and clipped, so that a few tasks do not fill the gradient.",
  equation: [
    "R = 0, r1 or r2 + (1 − r2) Q        unreadable call; wrong form; else Q = quality of the answer in [0, 1]",
    "v(q) = (1 − μ)^a σ over groups with σ > 0;  n[q] = 1 + draws of q for the places of the others",
    "A[q,i] = clip(n[q]^s, 1, c) (R[i] − μ) / σ",
  ].join("\n"),
  source:
    "stages, adapted BLEU, value of difficulty and uncertainty, smoothing and clipping from the abstracts; r1 = 0.1, r2 = 0.2, a = 1, s = ½, c = 2 and the value's form are ours. The gates read the environment's rewards `executable` and `format`; long answers keep the environment's outcome, which may be a judge's",
  options: {
    readable: { help: "r1, reward of a readable episode of the wrong form", default: 0.1, low: 0, high: 1 },
    formed: { help: "r2, reward of the right form without quality", default: 0.2, low: 0, high: 0.99 },
    most: { help: "c, largest weight of a task", default: 2, low: 1 },
  },
  slots: (_settings, { readable, formed, most }) => ({
    feedback: progressive({ readable, formed }),
    advantage: valueSampled({ most }),
  }),
});
