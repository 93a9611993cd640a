import { method } from "../../../method/method.ts";
import { brief, gatedReward, solved } from "./gatedReward.ts";

export const searchllm = method({
  id: "searchllm",
  family: "judges",
  summary: "constraints open a gate, and what makes an answer good counts only as far as it is open",
  paper: "Aligning Large Language Models with Searcher Preferences",
  mechanism:
    "Some demands on an answer are not negotiable, such as being true to the facts or well formed; others make it better. Constraints are multiplied into a gate, a smoothed geometric mean, and the behaviours' mean counts only as far as the gate is open. In a weighted sum a very helpful answer may break a constraint and still win, unless the weights are tuned; here it cannot.",
  equation: [
    "B = (Π_k (b_k + δ))^(1/K) − δ                              constraints b_k in [0, 1]; δ = 1e-4",
    "U = Σ_m w_m u_m                                            behaviours u_m in [0, 1], Σ w = 1",
    "R = B · U,   A = (R − mean R) / std R                      over the group",
  ].join("\n"),
  source:
    "layers, gate and product from a study note on the paper; the form of the smoothing and δ are ours. In the check a sum in which helpfulness weighs a quarter does about as well as the gate (0.802 against 0.813): the gate saves choosing the weight. In training the environment's own success is the constraint and brevity the behaviour, ½ at 64 tokens, both ours: for rules, judges and rubrics of your own use `gatedReward`",
  options: {
    smoothing: { help: "δ of the gate", default: 1e-4, low: 0, high: 1 },
    half: { help: "tokens of an answer whose brevity is ½", default: 64, low: 1, high: 1e9 },
  },
  slots: (_s, { smoothing, half }) => ({
    feedback: gatedReward({ constraints: [solved], behaviours: [{ by: brief(half) }], smoothing }),
  }),
});
