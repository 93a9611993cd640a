import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { answerable, depthAsked, depthReader, depthSpeaker, depths, depthWords, hardest } from "./depths.ts";
import { asking, spellLongcontextSelfplay } from "./method.ts";
import { borderline, type QuestionReward } from "./rewards.ts";

const groupSize = 8;

/** π(found | documents, depth), exact, mean over the depths that have an answer. */
const foundBy = async (policy: Model, seed: number): Promise<number> => {
  const task = depths(seed).tasks("train")[0]!;
  const at = depthWords.slice(1, answerable + 1).map(async (content) => {
    const prompt = [...task.prompt, { role: "user", content } as const];
    return (await replyProbabilities(policy, { ...task, prompt }, ["found"]))[0]!;
  });
  return mean(await Promise.all(at));
};

/** The questioner stays as it was. */
const anyDepth =
  (rollout: Rollout): Rollout =>
  async (ctx) => {
    const all = await rollout(ctx);
    return { ...all, units: all.units.filter(({ group }) => group !== "questions") };
  };

const arm = (what: string, rewardOf: QuestionReward, learns = true): Arm =>
  trainingArm({
    recipe: method({
      id: "spell-longcontext-selfplay",
      family: "self-play",
      summary: what,
      says: spellLongcontextSelfplay.says ?? [],
      slots: () => {
        const slots = asking({ groupSize, read: depthAsked, rewardOf, maxTokens: 2, remembered: 0 });
        return learns ? slots : { ...slots, rollout: anyDepth(slots.rollout!) };
      },
    }),
    environment: depths,
    engine: () => tabularEngine({ prior: depthSpeaker, features: depthReader }),
    iterations: 45,
    settings: { ...plainAscent, tasks: 4, groupSize },
    grid: [1, 3, 10, 30].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => foundBy(policy, seed),
    more: ({ curve }) => ({
      "answers that are right, last 20 iterations": averageOf(curve.slice(-20), "solved"),
      "questions that some answers get right, first 20": averageOf(curve.slice(0, 20), "solvable"),
      "questions that some answers get right, last 20": averageOf(curve.slice(-20), "solvable"),
    }),
  });

export default defineCheck({
  id: "spell-longcontext-selfplay",
  level: "table",
  claim:
    "A questioner that is paid for questions that half of the answers get right takes the responder deeper than one that is paid for hard questions.",
  metric: "probability of a right answer, exact, mean over depths from 1 to 12",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "uniform"],
  notes:
    "A questioner that is paid for hardness drifts to questions without an answer (0.18 of its answers are right at the end, 0.73 with the Gaussian). But a questioner that does not learn is best of all (0.94): what is learnt at a depth carries over to its neighbours, four questions an iteration come by every depth often enough, and the Gaussian lags behind the responder. At the end 0.73 of its answers are right, not a half. The table reads neither the documents nor the remembered questions.",
  baseline: arm("paid for the share of wrong answers", hardest),
  method: arm("paid most where half of the answers are right", borderline),
  others: { uniform: arm("a questioner that does not learn", borderline, false) },
});
