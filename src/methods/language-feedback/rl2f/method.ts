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
  summary: "trains on dialogues with a teacher who knows the answer, so the policy learns to use feedback",
  paper: "Improving Interactive In-Context Learning from Natural Language Feedback",
  mechanism:
    "A task with one answer becomes a dialogue (the environment tryAgain with a teacher): after each wrong answer a teacher who knows the solution gives feedback without revealing it, and the policy answers again in the same context. Every answer of the dialogue is trained on the dialogue's outcome, so the policy learns to use feedback. It also learns to predict the teacher's feedback, and can then replace the teacher. Dialogues in which the teacher leaked the answer are left out, since they would teach copying.",
  equation: [
    "R = 1 if some answer y[k] is right                  x, y[1], f[1], y[2], f[2], …; the first right one ends it",
    "A = (R − mean R) / std R                            over the dialogues of a task, on every token of every y",
    "loss = −mean over tokens of y of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)",
    "       − λ mean over tokens of f of ln π(f | x, y, f before it)          ε = 0.2, λ = 0.1",
  ].join("\n"),
  source:
    "the dialogue, a teacher no stronger than the student and the prediction of critiques are the paper's; the formulas, λ and the filter are ours; answering one's own critiques at test time is left to the environment",
  options: {
    imitation: { help: "coefficient of the likelihood of the teacher rows", default: 0.1, low: 0 },
  },
  slots: ({ groupSize, temperature, clipLow, clipHigh }, o) => ({
    rollout: withTeacherRows(withoutLeaks(multiTurn({ groupSize, temperature }))),
    objective: [
      restricted(clippedRatio({ clip: { low: clipLow, high: clipHigh } }), ["sampled"]),
      restricted(likelihood({ coefficient: o.imitation }), ["demonstrated"]),
    ],
  }),
});
