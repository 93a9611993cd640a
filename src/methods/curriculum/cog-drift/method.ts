import { uniform } from "../../../data/uniform.ts";
import { method } from "../../../method/method.ts";
import { climbing } from "./climbing.ts";

export const cogDrift = method({
  id: "cog-drift",
  family: "curriculum",
  summary: "asks each hard problem in an easier format first, and in the next harder one once it is solved",
  paper:
    "Cog-DRIFT: Exploration on Adaptively Reformulated Instances Enables Learning from Hard Reasoning Problems",
  mechanism:
    "A problem that is never solved gives no gradient. Each is asked in easier formats with the same answer: a choice of four, a choice of ten, an answer with a blank, and the open question at last. Every problem begins at its easiest format. Where the mean success of its attempts exceeds a threshold it moves to the next harder one, for good. The optimiser is plain GRPO, and a group never mixes formats.",
  equation: [
    "level(q) = 0 at first; variants: four choice < ten choice < fill in < open",
    "s = mean success of the attempts at (q, level(q)); h = the last W values of s at this level",
    "|h| = W and mean h > θ:  level(q) ← level(q) + 1, h ← {}",
  ].join("\n"),
  source:
    "ladder, θ = 0.5, W = 1 and no way down from the paper's code; the threshold is on correctness alone; which problems are hard is the user's choice of tasks; the environment writes the formats (`metadata.formats`), where the paper has a model write them",
  options: {
    threshold: {
      help: "mean success above which a task moves to a harder format",
      default: 0.5,
      low: 0,
      high: 0.99,
    },
    window: { help: "visits that the mean is over", default: 1, low: 1, whole: true },
  },
  slots: ({ tasks }, options) => ({ data: climbing(uniform({ tasks }), options) }),
});
