import { constant } from "../../../advantage/constant.ts";
import { sigmoid } from "../../../common/statistics/logistic.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { type Arm, type Choice, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { scattered } from "../../../worlds/arms/sequences.ts";
import { type Judged, judged } from "../../../worlds/judged.ts";
import { balancedSampling } from "./balancedSampling.ts";

/** Some queries are nearly solved at first and others nearly hopeless. The tests pass a tenth of the wrong answers. */
const world = (seed: number): Judged =>
  judged({ questions: 24, answers: 24, right: 0.2, testError: 0.1, model: { truth: 1.2, noise: 1.2 }, seed });
const groupSize = 16;
const adaptive = [0.5, 0.7, 1, 1.4];

/** @param temperaturesOf the temperatures among which a choice lets the method choose: one alone is fixed. */
function arm(
  what: string,
  grid: readonly Choice[],
  temperaturesOf: (choice: Choice) => readonly number[],
  episodes = 3456,
): Arm {
  return {
    what,
    grid,
    measure(choice, seed) {
      const environment = world(seed);
      const temperatures = temperaturesOf(choice);
      return trainingArm({
        what,
        recipe: method({
          id: "balanced",
          family: "self-play",
          summary: what,
          slots: {
            rollout: balancedSampling({
              groupSize,
              temperatures,
              ...(temperatures.length > 1 ? { probe: 1 / 6 } : { probe: 0, thresholds: [0.99] }),
              target: 3,
              wanted: Number(choice.wanted ?? 3),
              scoreOf: (ctx, t) => {
                const answer = environment.answerOf(ctx.task(t.task), t.turns[0]!.action.content);
                return answer ? Number(answer.passes) + sigmoid(answer.logit) / 5 : -1;
              },
            }),
            advantage: constant(),
            objective: likelihood(),
          },
        }),
        environment: () => environment,
        engine: () => scattered(seed, 3),
        iterations: 100,
        episodes,
        settings: { ...plainAscent, tasks: 24, groupSize },
        grid,
        metric: ({ policy }) =>
          meanOver(environment.tasks("train"), async (task) => {
            const chances = await replyProbabilities(policy, task, environment.words);
            return environment.words.reduce(
              (sum, word, i) => sum + (environment.answerOf(task, word)!.right ? chances[i]! : 0),
              0,
            );
          }),
        more: async ({ policy, curve }) => ({
          "distinct right answers in 32": await meanOver(environment.tasks("train"), async (task) => {
            const chances = await replyProbabilities(policy, task, environment.words);
            return environment.words.reduce(
              (sum, word, i) =>
                sum + (environment.answerOf(task, word)!.right ? 1 - (1 - chances[i]!) ** 32 : 0),
              0,
            );
          }),
          "temperature, first": curve[0]?.temperature ?? Number.NaN,
          "temperature, last": curve.at(-1)?.temperature ?? Number.NaN,
          "covered queries, last": curve.at(-1)?.covered ?? Number.NaN,
        }),
      }).measure(choice, seed);
    },
  };
}

const rates = [60, 180, 540];

const balanced = [3, 6].flatMap((wanted) => rates.map((learningRate) => ({ wanted, learningRate })));

export default defineCheck({
  id: "b-star",
  level: "shared",
  simpler: ["baseline"],
  claim:
    "Temperatures and thresholds that follow the balance of right and wrong answers lead further than a fixed temperature, tuned beforehand.",
  metric: "probability of a truly right answer, exact, mean over queries, after 3456 samples",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  baseline: arm(
    "right answers of one temperature, to choose",
    [0.5, 1].flatMap((temperature) => rates.map((learningRate) => ({ temperature, learningRate }))),
    ({ temperature }) => [Number(temperature)],
  ),
  method: arm("temperature and threshold by the balance score", balanced, () => adaptive),
  others: {
    "free probe": arm("the same, the probe's samples not counted", balanced, () => adaptive, 5184),
  },
  notes:
    "Tried on other seeds, with queries less far apart (logits with deviation 2) or as here (3): one fixed temperature of 1 was ahead by 0.03 to 0.06, one of 0.5 behind by as much. The diversity half shows: at steps at which the fixed temperature of 1 leaves 1.7 distinct right answers in 32 samples and one of 0.5 leaves 0.8, the method leaves 1.9. It does not pay off here, since a table has no unseen queries that diversity could serve, and what is selected at a higher temperature is imitated at a lower one. A third of the samples go into the probe.",
});
