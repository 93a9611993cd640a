import { teacher } from "../../../annotate/teacher.ts";
import {
  critiqueText,
  environmentText,
  firstOf,
  siblingSolution,
  type Telling,
} from "../../../common/tokens/privilegedContext.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { distillation } from "../../../objective/distillation.ts";
import { teacherGap } from "./teacherGap.ts";

/** A teacher that is told this, and is followed on the attempt's own tokens. */
export const selfDistilled = (tell: Telling): SlotChoices => ({
  annotate: teacher({ tell, by: "teacher", topk: 100 }),
  feedback: [],
  credit: [],
  advantage: teacherGap(),
  objective: distillation({ divergence: { jensenShannon: 0.5 }, importance: 2 }),
});

export const sdpo = method({
  id: "sdpo",
  family: "language-feedback",
  summary: "the policy, shown feedback or a sibling's solution, re-reads its attempt and teaches itself",
  paper: "Reinforcement Learning via Self-Distillation",
  mechanism:
    "The policy answers; a slowly following copy of it is shown in addition what came of the answer, a successful sibling or feedback in words, and says of each token of that very answer what it would have written. The policy is distilled towards this hindsight distribution on its own tokens. That is credit for every token, positive and negative, without a second generation, a reward model or another teacher.",
  equation: [
    "p[a] = π(· | x, y[<a]),   q[a] = π̄(· | x, told, y[<a])        π̄ ← 0.95 π̄ + 0.05 π after each iteration",
    "told: the first successful sibling; else what was said of y; neither: y is not learnt from",
    "m = (p + q) / 2,   D[a] = ½ KL(p ‖ m) + ½ KL(q ‖ m)           over the student's 100 likeliest ids and the rest",
    "loss = mean over tokens of min(sg π(y[a]) / π_old(y[a]), 2) · D[a]",
  ].join("\n"),
  source:
    "divergence, ids, rates, cap and what is told from the paper's code; its template is left to the caller, and so is its form for single hard questions, which repeats these updates on one of them",
  needs: ["topk", "at", "freeze"],
  says: ["\n"],
  frozen: { teacher: { blend: 0.05 } },
  slots: selfDistilled(firstOf(siblingSolution(), environmentText, critiqueText())),
});
