import type { Task } from "../../../core/types.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { type Asked, criticRewards } from "./criticRewards.ts";

/** What the environment's task asks of a critic, in its metadata; undefined for a task that asks nothing. */
const askedOf = ({ metadata }: Task): Asked | undefined => metadata.asked as unknown as Asked | undefined;

export const evopresentPresaesth = method({
  id: "evopresent-presaesth",
  family: "judges",
  summary: "one critic learns to score, to name defects and to compare, and then guides edits",
  paper: "Presenting a Paper is an Art: Self-Improvement Aesthetic Agents for Academic Presentations",
  mechanism:
    "A critic of artefacts is trained on three kinds of questions in one batch: how good is this, what is wrong with it, which of two is better. Each kind has a reward by rule, and is normalised within the group of its prompt. Then an agent drafts, the critic names defects, the agent fixes one, and the edit is kept where the critic prefers it in both orders, until nothing is left to fix. A critic of one kind alone can guide only a part of this loop.",
  equation: [
    "r = R_task + R_f;   R_f = 1 for an answer in form, else r = 0",
    "score: 1[|ŝ − s| < δ]     defects: 1[F1 > κ]     compare: 1[answer = label]          δ = 0.3, κ = 0.6",
    "A = (r − mean r) / std r over the group of a prompt;   loss = clipped ratio + 0.001 · KL(π ‖ π_ref)",
    "loop: v ← edit(v, d), d ∈ defects(v), where the critic prefers it to v in both orders",
  ].join("\n"),
  source:
    "rewards, δ, κ and the coefficient from the paper's code, where the reward of a comparison is added twice; the loop (`edited`) is reconstructed, without the target score at which it may end. A list of words stands in for defects in free text, which a classifier reads there. The environment's tasks say in `metadata.asked` what they ask and what is right",
  frozen: { reference: {} },
  needs: ["freeze"],
  options: {
    tolerance: { help: "δ, how far a score may be off, in its unit", default: 0.3, low: 0 },
    overlap: { help: "κ, F1 above which a list of defects is right", default: 0.6, low: 0, high: 1 },
    kl: { help: "coefficient of the KL penalty towards the reference, per nat", default: 0.001, low: 0 },
  },
  slots: ({ clipLow, clipHigh }, { tolerance, overlap, kl }) => ({
    feedback: criticRewards(askedOf, { tolerance, overlap }),
    objective: [clippedRatio({ clip: { low: clipLow, high: clipHigh } }), klPenalty({ coefficient: kl })],
  }),
});
