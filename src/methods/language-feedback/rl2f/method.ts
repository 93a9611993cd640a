import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { restricted } from "../../../objective/restricted.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { withoutLeaks } from "./withoutLeaks.ts";
import { withTeacherRows } from "./withTeacherRows.ts";

export const rl2f = method({
  id: "rl2f",
  family: "language-feedback",
  summary: "whole dialogues with a teacher who knows the answer: using what is said becomes a skill",
  paper: "Improving Interactive In-Context Learning from Natural Language Feedback",
  mechanism:
    "A task with one answer becomes a dialogue (the environment tryAgain with a teacher): after each wrong answer a teacher who knows the solution says something of it without giving it away, and the policy answers again in the same context. Every answer of the dialogue is trained on whether it ended well, so that using feedback is what is learnt. The policy also learns to predict what the teacher said, and can then stand in for the teacher. Dialogues in which the teacher let the answer slip are left out, since they would teach copying.",
  equation: [
    "R = 1 if some answer y[k] is right                  x, y[1], f[1], y[2], f[2], …; the first right one ends it",
    "A = (R − mean R) / std R                            over the dialogues of a task, on every token of every y",
    "loss = −mean over tokens of y of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)",
    "       − λ mean over tokens of f of ln π(f | x, y, f before it)          ε = 0.2, λ = 0.1",
  ].join("\n"),
  source:
    "the dialogue, a teacher no stronger than the student and the prediction of critiques are the paper's; the formulas, λ and the filter are ours; answering one's own critiques at test time is left to the environment",
  slots: ({ groupSize, temperature, clipLow, clipHigh }) => ({
    rollout: withTeacherRows(withoutLeaks(multiTurn({ groupSize, temperature }))),
    objective: [
      restricted(clippedRatio({ clip: { low: clipLow, high: clipHigh } }), ["sampled"]),
      restricted(likelihood({ coefficient: 0.1 }), ["demonstrated"]),
    ],
  }),
});
