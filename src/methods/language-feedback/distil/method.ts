import { teacher } from "../../../annotate/teacher.ts";
import {
  critiqueText,
  environmentText,
  firstOf,
  siblingSolution,
} from "../../../common/tokens/privilegedContext.ts";
import { method } from "../../../method/method.ts";
import { distillation } from "../../../objective/distillation.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { disagreementToGo } from "./disagreementToGo.ts";

export const distil = method({
  id: "distil",
  family: "language-feedback",
  summary: "imitates itself shown feedback, and steers clear of where it could not have known",
  paper: "Reinforcement Learning from Rich Feedback with Distributional DAgger",
  mechanism:
    "The policy acts; the same policy, shown the feedback, is asked at each state that was really visited what it would do now. The policy imitates that expert by forward cross-entropy summed over its own rollouts, and takes the whole gradient of the sum: beside the imitation at each step, tokens that led to states of large disagreement later on become less likely. A natural step on forward cross-entropy moves towards an expert that is better on average and so never loses; steps on the reverse or a Jensen-Shannon divergence may.",
  equation: [
    "h[t] = KL(q[t] ‖ π[t])                        q: π with the feedback in its prompt, no gradient through it",
    "C[t] = Σ_{j > t} γ^(j − t − 1) h[j]            γ = 1; 0 at the last token",
    "loss = mean over rollouts of Σ_t h[t] + λ sg(C[t] − b[t]) ln π(a[t])        λ = 1",
    "b[t]: mean of C at token t over the task's rollouts",
  ].join("\n"),
  source:
    "objective and gradient from the paper; γ, λ and the baseline are ours, and so is a divergence in place of the cross-entropy, which differs by the expert's own entropy and else would favour short rollouts; experts that can only be sampled are left out",
  needs: ["topk", "at"],
  says: ["\n"],
  slots: {
    annotate: teacher({
      tell: firstOf(environmentText, critiqueText(), siblingSolution()),
      ids: "teacher",
      topk: 20,
    }),
    feedback: [],
    credit: [],
    advantage: disagreementToGo(),
    objective: [
      distillation({ divergence: "forward", normaliser: { constant: 1 } }),
      policyGradient({ normaliser: { constant: 1 } }),
    ],
  },
});
