import { method } from "../../../method/method.ts";
import { graded, informative } from "./graded.ts";

export const videossr = method({
  id: "videossr",
  family: "self-play",
  summary: "GRPO on altered videos whose answers are known, with graded rewards",
  paper: "VideoSSR: Video Self-Supervised Reinforcement Learning",
  mechanism:
    "Videos without labels are altered so that the answer is known by construction: a segment is changed and has to be located, shapes are pasted and have to be counted, pieces are shuffled and have to be put in order. Exact answers are rare at first, so the reward is graded by how near an answer comes. Tasks on which the first policy's answers are all worthless or all right are left out.",
  equation: [
    "grounding: r = |said ∩ true| / |said ∪ true|            counting: r = mean_c max(0, 1 − |n̂_c − n_c| / max(n_c, 1))",
    "jigsaw: r = 1 − Σ_k |pos_said(k) − pos_true(k)| / ⌊n²/2⌋, 0 for no permutation",
    "A[i] = (r[i] − mean r) / std r        over the answers to one altered video",
  ].join("\n"),
  source:
    "the three tasks and the filter from the paper's code page; the formulas of the rewards are reconstructed. Videos are sequences of tokens here, and a reward for the format is left out: an answer in another format is worth 0 (ours)",
  options: {
    probes: { help: "answers to each task before training, for the filter", default: 8, low: 1, whole: true },
  },
  slots: ({ tasks }, { probes }) => ({
    data: informative({ tasks, answers: probes }),
    feedback: graded(),
  }),
});
