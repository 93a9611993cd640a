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
  summary: "imitates itself with feedback in context, and avoids states of large later disagreement",
  paper: "Reinforcement Learning from Rich Feedback with Distributional DAgger",
  mechanism:
    "The policy acts; the same policy with the feedback in context, the expert, gives its next-token distribution at each visited state. The policy imitates the expert by forward cross-entropy summed over its own rollouts, with the full gradient of the sum: besides imitation at each step, tokens that lead to states of large later disagreement become less likely. A natural-gradient step on forward cross-entropy towards an expert that is better on average never lowers performance; steps on the reverse or a Jensen-Shannon divergence may.",
  equation: [
    "h[t] = KL(q[t] ‖ π[t])                        q: π with the feedback in its prompt, no gradient through it",
    "C[t] = Σ_{j > t} γ^(j − t − 1) h[j]            γ = 1; 0 at the last token",
    "loss = mean over rollouts of Σ_t h[t] + λ sg(C[t] − b[t]) ln π(a[t])        λ = 1",
    "b[t]: mean of C at token t over the task's rollouts",
  ].join("\n"),
  source:
    "objective and gradient from the paper; γ, λ and the baseline are ours, and so is the KL divergence in place of the cross-entropy, which would also contain the expert's entropy and favour short rollouts; experts that can only be sampled are left out",
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
