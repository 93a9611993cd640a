import { teacher } from "../../../annotate/teacher.ts";
import {
  critiqueText,
  environmentText,
  firstOf,
  type PrivilegedContext,
  siblingSolution,
} from "../../../common/tokens/privilegedContext.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { distillation } from "../../../objective/distillation.ts";
import { teacherGap } from "./teacherGap.ts";

/** Distils a teacher with this privileged context on the attempt's own tokens. */
export const selfDistilled = (tell: PrivilegedContext): SlotChoices => ({
  annotate: teacher({ tell, by: "teacher", topk: 100 }),
  feedback: [],
  credit: [],
  advantage: teacherGap(),
  objective: distillation({ divergence: { jensenShannon: 0.5 }, importance: 2 }),
});

export const sdpo = method({
  id: "sdpo",
  family: "language-feedback",
  summary: "distils the policy with feedback or a sibling's solution in context into the policy without",
  paper: "Reinforcement Learning via Self-Distillation",
  mechanism:
    "The policy answers; a slowly updated copy of it also sees a successful sibling or feedback in words, and gives its own distribution at each token of that answer. The policy is distilled towards this hindsight distribution on its own tokens. Every token gets credit, positive or negative, without a second generation, a reward model or another teacher.",
  equation: [
    "p[a] = π(· | x, y[<a]),   q[a] = π̄(· | x, ctx, y[<a])        π̄ ← 0.95 π̄ + 0.05 π after each iteration",
    "ctx: the first successful sibling; else the feedback on y; neither: y is not trained on",
    "m = (p + q) / 2,   D[a] = ½ KL(p ‖ m) + ½ KL(q ‖ m)           over the student's 100 likeliest ids and the rest",
    "loss = mean over tokens of min(sg π(y[a]) / π_old(y[a]), 2) · D[a]",
  ].join("\n"),
  source:
    "divergence, ids, rates, cap and privileged context from the paper's code; its template is left to the caller, and so is its form for single hard questions, which repeats these updates on one of them",
  needs: ["topk", "at", "freeze"],
  says: ["\n"],
  frozen: { teacher: { blend: 0.05 } },
  slots: selfDistilled(firstOf(siblingSolution(), environmentText, critiqueText())),
});
