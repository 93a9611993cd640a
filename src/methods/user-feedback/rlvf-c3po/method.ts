import { constant } from "../../../advantage/constant.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import type { RowInfo } from "../../../core/batch.ts";
import type { Objective } from "../../../core/objective.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { distillation } from "../../../objective/distillation.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { restricted } from "../../../objective/restricted.ts";
import { scopedFeedback } from "./scopedFeedback.ts";

/** Strength of the constraints that preserve behaviour outside the feedback's scope. */
export interface Anchors {
  /** s_hard, for tasks that resemble those in scope. Default 0.3. */
  readonly near?: number;
  /** s_soft, for unrelated tasks. Default 0.3. */
  readonly out?: number;
  /** k, weight of the KL divergence from the base model; 1 − k goes to the likelihood of its answers. Default 0.5. */
  readonly divergence?: number;
}

/** DPO where the feedback applies, imitation of the base model's own answers elsewhere. */
export function scopedPreferences({ near = 0.3, out = 0.3, divergence: k = 0.5 }: Anchors = {}): SlotChoices {
  const held = (scope: "near" | "out", strength: number): readonly Objective[] => [
    anchor(scope, likelihood({ normaliser: { constant: 1 }, coefficient: strength * (1 - k) })),
    anchor(
      scope,
      distillation({
        teacher: `base.${scope}`,
        asks: { frozen: "reference", topk: Number.POSITIVE_INFINITY },
        divergence: { softened: 5 },
        normaliser: { constant: 1 },
        coefficient: strength * k,
      }),
    ),
  ];
  return {
    rollout: scopedFeedback(),
    advantage: [constant(0), outcomePairs()],
    objective: [pairwise(), ...held("near", near), ...held("out", out)],
  };
}

const anchor = <Aux>(scope: string, objective: Objective<Aux>): Objective<Aux> => ({
  ...restricted(objective, ({ group }: RowInfo) => group.startsWith(`${scope}/`)),
  name: `${objective.name}.${scope}`,
});

export const rlvfC3po = method({
  id: "rlvf-c3po",
  family: "user-feedback",
  summary: "learns a sentence of feedback within its scope: DPO inside, the base model's own answers outside",
  paper: "RLVF: Learning from Verbal Feedback without Overgeneralization",
  mechanism:
    "One sentence of feedback becomes a small training set: prompts to which it applies, prompts that only look like it, and unrelated ones. Where it applies, the model's revision with the feedback in its prompt is preferred to its first answer. On the other two sets the model is trained to keep its original answers, by their likelihood and by a softened KL divergence from the base model. So the rule is learnt with its scope, and other behaviour is preserved.",
  equation: [
    "L = L_DPO(in; y_w, y_l, β) + s_hard C(near) + s_soft C(out)          β = 0.1, s_hard = s_soft = 0.3",
    "C = (1 − k) (−ln π(y_0)) + k T² Σ_t KL(softmax(z_ref/T) ‖ softmax(z/T))        k = 0.5, T = 5",
    "sums over the tokens of an answer, means over answers; y_0, y_l ~ base(x), y_w ~ base(x, feedback)",
  ].join("\n"),
  source:
    "loss and constants from the authors' code; that tasks come with their scope, that the environment's reward decides which revisions are better, and that all weights are trained instead of an adapter per sentence are ours",
  baseline: "dpo",
  needs: ["topk", "at"],
  frozen: { reference: {} },
  learnsFrom: { kind: "rating", group: "task" },
  slots: scopedPreferences(),
});
