import { constant } from "../../../advantage/constant.ts";
import type { Able } from "../../../core/evaluator.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { codeOf, codewords } from "../../../env/codewords.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { attemptWords } from "../../../rollout/retryWithFeedback.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { rejectionSampling } from "../../baseline/rejection-sampling/method.ts";
import { reflected, reRest } from "./method.ts";

const questions = 24;
const environment = (seed: number) =>
  codewords({ seed, questions, length: 3, vocabulary: 8, pay: "whole", remedies: 3 });

/** First chance of a whole code, log-uniform between 0.003 and 0.9. */
const chanceOf = (seed: number, question: string): number =>
  0.003 * 300 ** randomStream(seed).split("chance", question).next();

/** Follows a named right word at odds of e³; a code's first chance is spread evenly over its words. */
function engine(seed: number) {
  const codes = new Map(
    environment(seed)
      .tasks("train")
      .map((task) => [task.prompt[0]!.content, codeOf(task)]),
  );
  return tabularEngine({
    context: "message",
    prior: (context, word) => {
      if (!/^w\d$/.test(word)) return -1e9;
      const place = context.filter((said) => /^w\d$/.test(said)).length;
      const question = context.find((said) => /^q\d+$/.test(said)) ?? "";
      if (codes.get(question)?.[place] !== word) return 0;
      const p = chanceOf(seed, question) ** (1 / 3);
      return Math.log((p * 7) / (1 - p));
    },
    reading: {
      isRead: (message) => message.startsWith("your attempt"),
      shift: ([said = ""], reply, word) => (said.includes(`step ${reply.length + 1} : ${word}`) ? 3 : 0),
    },
  });
}

/** Probability of the whole code without feedback, exact; mean over the codes of these questions. */
const unaided = (policy: Model, seed: number, counts: (chance: number) => boolean): Promise<number> =>
  meanOver(
    environment(seed)
      .tasks("train")
      .filter((task) => counts(chanceOf(seed, task.prompt[0]!.content))),
    (task) => expectedValue(policy, task, [codeOf(task).join(" ")], () => 1),
  );

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment,
    engine,
    iterations: 1000,
    episodes: questions * 4 * 14,
    settings: { ...plainAscent, tasks: questions, groupSize: 4 },
    grid: [100, 300, 1e3, 3e3, 1e4, 1e5].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => unaided(policy, seed, () => true),
    more: async ({ policy, curve }, seed) => ({
      "hard codes": await unaided(policy, seed, (chance) => chance < 0.05),
      repaired: curve[0]?.repaired ?? 0,
      iterations: curve.length,
    }),
  });

const variant = (id: string, critiquer: Able<"critique">, isFiltered = true): Recipe =>
  method({
    id,
    family: "self-play",
    summary: id,
    says: [attemptWords],
    slots: (s) => ({ ...reflected(critiquer)(s), ...(!isFiltered && { advantage: constant() }) }),
  });
const informed = scriptedCritiquer({ detail: "answer" });

export default defineCheck({
  id: "re-rest",
  level: "shared",
  simpler: ["baseline", "uninformed", "unfiltered"],
  claim:
    "At equal episodes, self-training with corrected and verified failures solves more tasks than self-training on successes alone.",
  metric: "probability of the right code without feedback, exact, after 1344 episodes",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  unequalCost:
    "every arm ends with the iteration in which 1,344 episodes are reached; an iteration of the method plays a correction for each failure as well, and so ends later",
  baseline: arm("self-training on the policy's successes", rejectionSampling),
  method: arm("with corrections that pass the verifier", reRest),
  others: {
    uninformed: arm(
      "corrections after a word that only says wrong",
      variant("uninformed", scriptedCritiquer({ detail: "outcome" })),
    ),
    unfiltered: arm("every attempt and every correction is imitated", variant("unfiltered", informed, false)),
  },
});
