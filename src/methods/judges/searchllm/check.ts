import { type Able, type Attempt, scorer } from "../../../core/evaluator.ts";
import type { Model } from "../../../core/model.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type Answer, type Judged, judged } from "../../../worlds/judged.ts";
import { gatedReward } from "./gatedReward.ts";

/** An answer has to be right and must not be showy; one that is showy looks more helpful than it is good. */
const world = (seed: number): Judged => judged({ questions: 8, right: 0.4, showy: 0.4, seed });
const constraintsOf = ({ right, showy }: Answer): readonly number[] => [Number(right), Number(!showy)];
const helpful = ({ quality, showy }: Answer): number => 0.6 * quality + 0.4 * Number(showy);

const scoring = (environment: Judged, name: string, of: (answer: Answer) => number): Able<"score"> =>
  scorer<Attempt>(name, async ({ task, trajectory }) => {
    const answer = environment.answerOf(task, trajectory.turns.at(-1)?.action.content ?? "");
    return answer && of(answer);
  });

const gate =
  (smoothing: number) =>
  (environment: Judged): Feedback =>
    gatedReward({
      constraints: [0, 1].map((k) =>
        scoring(environment, `constraint ${k}`, (answer) => constraintsOf(answer)[k]!),
      ),
      behaviours: [{ by: scoring(environment, "helpful", helpful) }],
      smoothing,
    });

/** A weighted sum of the constraints' mean and helpfulness. */
const sum =
  (weight: number) =>
  (environment: Judged): Feedback =>
  async ({ task }, { trajectories }) =>
    trajectories.flatMap((t): Signal[] => {
      const answer = environment.answerOf(task(t.task), t.turns.at(-1)?.action.content ?? "");
      if (!answer) return [];
      const met = constraintsOf(answer).reduce((all, b) => all + b / 2, 0);
      const value = (1 - weight) * met + weight * helpful(answer);
      return [{ kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "sum" }];
    });

const grid = [1, 3, 10, 30].map((learningRate) => ({ learningRate }));

function arm(what: string, feedbackOf: (environment: Judged) => Feedback): Arm {
  const armIn = (environment: Judged): Arm => {
    const expected = (policy: Model, worthOf: (answer: Answer) => number): Promise<number> =>
      meanOver(environment.tasks("train"), (task) =>
        expectedValue(policy, task, environment.words, (word) => worthOf(environment.answerOf(task, word)!)),
      );
    const allowed = ({ right, showy }: Answer): boolean => right && !showy;
    return trainingArm({
      recipe: method({
        id: "constrained",
        family: "judges",
        summary: what,
        slots: { feedback: feedbackOf(environment) },
      }),
      environment: () => environment,
      engine: () =>
        tabularEngine({ context: "message", prior: (_, word) => (/^a\d+$/.test(word) ? 0 : -1e9) }),
      iterations: 100,
      settings: { ...plainAscent, tasks: 8, groupSize: 16 },
      grid,
      metric: ({ policy }) => expected(policy, (answer) => (allowed(answer) ? helpful(answer) / 0.6 : 0)),
      more: async ({ policy }) => ({
        "share that breaks a constraint": await expected(policy, (answer) => Number(!allowed(answer))),
        "helpfulness as it looks": await expected(policy, helpful),
      }),
    });
  };
  return { what, grid, measure: (choice, seed) => armIn(world(seed)).measure(choice, seed) };
}

export default defineCheck({
  id: "searchllm",
  level: "shared",
  claim:
    "A gate of constraints teaches better answers that break none than a sum in which helpfulness weighs one half.",
  metric: "expected quality of the answer, 0 where it breaks a constraint, exact",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "light", "hard"],
  baseline: arm("sum of constraints and helpfulness, half each", sum(0.5)),
  method: arm("smoothed gate times helpfulness", gate(1e-4)),
  others: {
    light: arm("the sum with helpfulness at a quarter", sum(0.25)),
    lightest: arm("the sum with helpfulness at a tenth", sum(0.1)),
    hard: arm("0 where a constraint is broken, else helpfulness", gate(0)),
    loose: arm("a gate that leaks a fifth", gate(0.04)),
  },
});
