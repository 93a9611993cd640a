import type { CritiqueDetail } from "../../../core/critique.ts";
import type { Model } from "../../../core/model.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { codeOf, codewords } from "../../../env/codewords.ts";
import type { Environment } from "../../../env/environment.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import type { Recipe } from "../../../method/method.ts";
import { method } from "../../../method/method.ts";
import { attemptWords } from "../../../rollout/retryWithFeedback.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { rltf, textFeedback } from "./method.ts";

const variant = (distillation: number, detail: CritiqueDetail = "answer"): Recipe =>
  method({
    id: "variant",
    family: "language-feedback",
    summary: "a variant of rltf",
    says: [attemptWords],
    slots: textFeedback({ critiquer: scriptedCritiquer({ detail }), distillation, modelling: 0 }),
  });

/** Probability of the whole code, without a critique. */
const follow = (policy: Model, of: Environment) =>
  meanOver(of.tasks("train"), (task) => expectedValue(policy, task, [codeOf(task).join(" ")], () => 1));

const arm = (recipe: Recipe, what: string, groupSize: number) =>
  trainingArm({
    recipe,
    what,
    // three words out of six; only the whole code has a reward
    environment: (seed) =>
      codewords({ seed, questions: 8, length: 3, vocabulary: 6, pay: "whole", remedies: 2 }),
    // it follows a named right word at odds of e⁴, independent of training
    engine: () =>
      tabularEngine({
        context: "message",
        prior: (_context, word) => (/^w\d$/.test(word) ? 0 : -1e9),
        reading: {
          isRead: (message) => message.startsWith("your attempt"),
          shift: ([said = ""], reply, word) => (said.includes(`step ${reply.length + 1} : ${word}`) ? 4 : 0),
        },
      }),
    follow,
    settings: { ...plainAscent, tasks: 8, groupSize },
    grid: [30, 100, 300, 1000, 3000, 10_000].map((learningRate) => ({ learningRate })),
    iterations: 30,
  });

export default defineCheck({
  id: "rltf",
  level: "shared",
  simpler: ["single"],
  claim:
    "Second attempts distilled into first ones teach the bare policy faster than practice on both attempts alone.",
  metric: "probability of the right code without a critique, mean over practice",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  tuningSeeds: 3,
  notes:
    "The other half of the paper, learning to say what the critiquer said, shapes features that answers share; a table has none, so that it is not tried here. Tried before, on other seeds: smaller steps, +0.08; a critiquer that names every wrong word, +0.14, where one step nearly suffices.",
  baseline: arm(variant(0), "GRPO on both attempts, the first one paid for both", 4),
  method: arm(rltf, "the same, and the second attempt distilled into the first", 4),
  others: {
    single: arm(grpo, "GRPO on single answers", 8),
    outcome: arm(variant(1, "outcome"), "distilled after critiques that only say right or wrong", 4),
  },
});
