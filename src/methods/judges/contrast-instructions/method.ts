import { diagnostic } from "../../../method/entry.ts";

export const contrastInstructions = diagnostic({
  id: "contrast-instructions",
  family: "judges",
  summary:
    "tests whether a reward model notices that near instructions mean different things, with two repairs",
  paper: "The Trickle-down Impact of Reward (In-)consistency on RLHF",
  law: "Augmentation with synonyms at the extremes of their convex hull raises the consistency of a reward model on near instructions, without further updates.",
  mechanism:
    "Pairs of instructions with almost the same words and different preferred replies show whether a reward model reads the instruction. A consistent model ranks both matching combinations above both cross combinations. Models that rank held-out pairs well can be near chance here, since chosen replies are recognised by other marks. Two repairs are tested: words of training replies are replaced by synonyms on the convex hull of their embeddings, chosen against the current model (ConvexDA); and rewards at inference are averaged with the model's own rewards of near training replies (RewardFusion).",
  equation: [
    "C_res = P(r(I, y) > r(I, y′)), roles swapped as well          ties count ½; chance ½",
    "C_ins = P(r(I, y) > r(I′, y)), roles swapped as well          offsets of prompts are unidentified: reported by itself",
    "ConvexDA: y_w with the hull vertices of lowest r, y_l with those of highest r; L = −ln σ(r(y_w) − r(y_l)) on both",
    "RewardFusion: r̃ = (1 − α) r + α Σ_j softmax(cos(h, h_j)/T)_j r_j          nearest training replies",
  ].join("\n"),
  source:
    "benchmark items from the paper's repository; both repairs reconstructed from the abstract; half of the words replaced, α = 0.3, 8 neighbours and T = 0.1 are ours. No policies are trained on the repaired models, and embeddings of synonyms are drawn at random",
});
