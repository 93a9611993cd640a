import type { Feedback } from "../../../core/slots.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { agreement } from "./agreement.ts";
import { rewritten } from "./bothViews.ts";
import { coReward } from "./method.ts";
import { twins } from "./twins.ts";

function arm(what: string, feedback: Feedback, alike = false): Arm {
  const recipe: Recipe = {
    ...coReward,
    build: (settings, options) => {
      const built = coReward.build(settings, options);
      return { ...built, slots: { ...built.slots, feedback: [feedback] } };
    },
  };
  const world = (seed: number) => twins({ questions: 16, alike, seed });
  return trainingArm({
    what,
    recipe,
    environment: world,
    engine: (seed) => tabularEngine({ context: "message", prior: world(seed).prior }),
    iterations: 40,
    settings: { ...plainAscent, tasks: 8, groupSize: 8 },
    grid: [3, 10, 30, 100].map((learningRate) => ({ learningRate })),
    metric: async ({ policy }, seed) => {
      const { rightOf, ...environment } = world(seed);
      const views = environment.tasks("train").flatMap((task) => [task, rewritten(task)]);
      return meanOver(views, (task) => expectedValue(policy, task, [rightOf(task)], () => 1));
    },
    more: async ({ policy }, seed) => {
      const { rightOf, answers, ...environment } = world(seed);
      const views = environment.tasks("train").flatMap((task) => [task, rewritten(task)]);
      const lost = await meanOver(views, async (task) => {
        const most = await Promise.all(
          answers
            .filter((word) => word !== rightOf(task))
            .map((word) => expectedValue(policy, task, [word], () => 1)),
        );
        return Number(Math.max(...most) > 0.9);
      });
      return { "views with more than 0.9 on a wrong answer": lost };
    },
  });
}

export default defineCheck({
  id: "co-reward",
  level: "table",
  simpler: ["baseline", "both"],
  claim:
    "Where two wordings of a question are led astray by different mistakes, the other wording's majority is a better label than one's own.",
  metric: "probability of the right answer, exact, mean over questions in both wordings",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  notes:
    "Everything rests on mistakes that differ: where the same mistake leads both wordings astray, training by the other wording's majority ends at 0.342.",
  baseline: arm("the majority of one's own attempts", agreement("own")),
  method: arm("the majority of the other wording's attempts", agreement()),
  others: {
    both: arm("the majority of all attempts in both wordings", agreement("both")),
    right: arm("the right answer", outcome()),
    alike: arm("the other wording's majority, both led astray by the same mistake", agreement(), true),
  },
});
