import { mean } from "../../../common/statistics/statistics.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import { randomStream } from "../../../core/random.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type FlrOptions, flrWith } from "./method.ts";
import { answerWords, dissatisfied, followUps, satisfied } from "./world.ts";

const world = (seed: number) => followUps({ seed });
const answer = /^a\d$/;

/** A reply's answer logits are random, fixed per seed; a user may say any word except answers. */
const engine = (seed: number) =>
  tabularEngine({
    prior: (context, word) => {
      if (context.at(-1) === "<assistant>") {
        return answer.test(word)
          ? randomStream(seed)
              .split("habit", ...context, word)
              .normal()
          : -1e9;
      }
      return answer.test(word) ? -1e9 : 0;
    },
  });

/** Ranks replies by their own likelihood, which favours common replies. */
const usual: Feedback = async (ctx, { trajectories }) => {
  const asked = trajectories.flatMap(({ turns }) => turns.flatMap(({ tokens }) => tokens ?? []));
  const rows = pairRows(asked.map(({ prompt, action }) => ({ prompt, target: action })));
  const { logp } = await ctx.frozen("reference").score(rows);
  return trajectories.map(({ id }, r): Signal => {
    const value = mean(logp.subarray(rows.targetOffset[r], rows.targetOffset[r + 1]));
    return { kind: "score", channel: "usual", about: [{ trajectory: id }], value, source: "reference" };
  });
};

const asked = { all: { positive: satisfied, negative: dissatisfied } };

const arm = (what: string, options: FlrOptions): Arm =>
  trainingArm({
    what,
    recipe: flrWith({ followUps: asked, ...options }),
    environment: world,
    engine,
    iterations: 26,
    settings: { ...plainAscent, tasks: 25, groupSize: 6 },
    grid: [10, 30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) =>
      meanOver(world(seed).tasks("train"), (task) =>
        expectedValue(policy, task, answerWords(6), (reply) => Number(reply === task.reference)),
      ),
  });

export default defineCheck({
  id: "flr",
  level: "table",
  claim:
    "Pairs mined by how likely satisfied and dissatisfied follow-ups are teach right answers, unlike pairs mined by how likely the answer is.",
  metric: "probability of the right answer, exact",
  direction: "higher",
  smallestEffect: 0.1,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm("answers ranked by their own likelihood", { feedback: usual }),
  method: arm("answers ranked by follow-ups", {}),
  notes:
    "Ranked by their own likelihood, answers that were usual become more usual, so that the baseline only loses and its best step is the smallest one of any grid. With the same utterances after every answer, sums of log-likelihoods rank as means do, and where reactions can be counted, counting them is as good: what the likelihood adds is that users may say anything.",
});
