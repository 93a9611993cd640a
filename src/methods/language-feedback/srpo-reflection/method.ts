import { constant } from "../../../advantage/constant.ts";
import { method, type Phase } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";
import { reflection } from "./reflection.ts";

/** The imitation phase on demonstrated reflections, which precedes RL. */
export const shownReflections = (iterations: number): readonly Phase[] => [
  {
    name: "imitation",
    from: 0,
    until: iterations,
    slots: { rollout: demonstrated(), advantage: constant(), objective: likelihood() },
  },
];

export const srpoReflection = method({
  id: "srpo-reflection",
  family: "language-feedback",
  summary: "answers, reflects and answers again in one reply; correcting a wrong first answer earns most",
  paper: "SRPO: Enhancing Multimodal LLM Reasoning via Reflection-Aware Reinforcement Learning",
  mechanism:
    "A reply holds an attempt, a reflection on it and a revised attempt (the environment selfReflection). Demonstrations of such replies, most of which correct a wrong first answer, are imitated first. RL then rewards both answers: correcting earns most, keeping a right answer less, breaking one little. A format term and a Gaussian term over the length are added; the latter makes padding the reflection useless. Once correcting is easy, right first answers no longer earn more, so monitor their share.",
  equation: [
    "R = R_acc + 0.5 · [the form holds] + 0.1 · exp(−(|L − 2n| / 0.5n)²)      L: tokens, n: those of the first attempt",
    "R_acc = 1 wrong then right, 0.75 right twice, 0.25 right then wrong, 0 wrong twice, half its value for a single answer",
    "A = (R − mean R) / std R                                                   over the group, on every token of the reply",
  ].join("\n"),
  source:
    "rewards and their constants from the paper's code; 15 iterations of imitation, and lengths in tokens of the text between the tags: ours; images are left out",
  options: {
    kept: {
      help: "reward of keeping a right answer; correcting a wrong one earns 1",
      default: 0.75,
      low: 0,
      high: 1,
    },
    format: { help: "reward of a well-formed reply", default: 0.5, low: 0 },
    length: { help: "reward of a reply of the ideal length", default: 0.1, low: 0 },
  },
  slots: (_s, o) => ({ feedback: reflection(o) }),
  phases: shownReflections(15),
});
