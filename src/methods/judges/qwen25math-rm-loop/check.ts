import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { Model } from "../../../core/model.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type Answer, type Judged, judged } from "../../../worlds/judged.ts";
import { verifiedReward } from "./verifiedReward.ts";

/** The reward model sees the quality of an answer and little of its truth, and overrates an eighth of the wrong ones. */
const world = (seed: number): Judged =>
  judged({
    questions: 8,
    right: 0.35,
    showy: 0.12,
    model: { truth: 0.5, quality: 4, showy: 5, noise: 0.5 },
    seed,
  });
const alpha = 0.5;

/** A reward of each attempt by what is known of its answer. */
const paying =
  (environment: Judged, pays: (answer: Answer) => number): Feedback =>
  async ({ task }, { trajectories }) =>
    trajectories.flatMap((t): Signal[] => {
      const answer = environment.answerOf(task(t.task), t.turns.at(-1)?.action.content ?? "");
      if (!answer) return [];
      const about = [{ trajectory: t.id }];
      return [{ kind: "reward", channel: "outcome", about, value: pays(answer), source: "check" }];
    });

/** The method's own piece, with the world's reward model. */
const shaped = (environment: Judged): Feedback =>
  verifiedReward(
    async ({ task }, trajectories) =>
      new Map(
        trajectories.flatMap((t) => {
          const answer = environment.answerOf(task(t.task), t.turns.at(-1)?.action.content ?? "");
          return answer ? [[t.id, answer.logit] as const] : [];
        }),
      ),
    alpha,
  );

const grid = [3, 10, 30, 100].map((learningRate) => ({ learningRate }));

function arm(what: string, feedbackOf: (environment: Judged) => Feedback): Arm {
  const armIn = (environment: Judged): Arm => {
    const expected = (policy: Model, worthOf: (answer: Answer) => number): Promise<number> =>
      meanOver(environment.tasks("train"), (task) =>
        expectedValue(policy, task, environment.words, (word) => worthOf(environment.answerOf(task, word)!)),
      );
    return trainingArm({
      recipe: method({
        id: "verified",
        family: "judges",
        summary: what,
        slots: { feedback: feedbackOf(environment) },
      }),
      environment: () => environment,
      engine: () =>
        tabularEngine({ context: "message", prior: (_, word) => (/^a\d+$/.test(word) ? 0 : -1e9) }),
      iterations: 150,
      settings: { ...plainAscent, tasks: 8, groupSize: 16 },
      grid,
      metric: ({ policy }) => expected(policy, ({ right, quality }) => (right ? quality : 0)),
      more: async ({ policy }) => ({
        "share of right answers": await expected(policy, ({ right }) => Number(right)),
        "share of showy wrong answers": await expected(policy, ({ right, showy }) => Number(showy && !right)),
      }),
    });
  };
  return { what, grid, measure: (choice, seed) => armIn(world(seed)).measure(choice, seed) };
}

const from = (pays: (answer: Answer) => number) => (environment: Judged) => paying(environment, pays);

export default defineCheck({
  id: "qwen25math-rm-loop",
  level: "shared",
  claim:
    "A reward model's score within the verifier's two halves teaches right answers of higher quality than the verifier alone.",
  metric: "expected quality of the answer, 0 for a wrong one, exact",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "model", "sum"],
  baseline: arm(
    "the verifier alone",
    from(({ right }) => Number(right)),
  ),
  method: arm("the model's score within the verifier's halves", shaped),
  others: {
    model: arm(
      "the reward model alone",
      from(({ logit }) => logit),
    ),
    sum: arm(
      "the verifier plus half the model's probability",
      from(({ right, logit }) => Number(right) + 0.5 * sigmoid(alpha * logit)),
    ),
    late: arm(
      "sigmoid of the sum of both",
      from(({ right, logit }) => sigmoid(alpha * logit + Number(right) - 1)),
    ),
  },
});
