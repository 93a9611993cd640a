import { mean } from "../../../common/statistics/statistics.ts";
import { type Attempt, scorer } from "../../../core/evaluator.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Environment } from "../../../env/environment.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { corridor } from "../../../worlds/corridor.ts";
import { judgedByTwo } from "./method.ts";
import { stepJudge } from "./stepJudge.ts";
import type { LabelledStep, TwoJudgesOptions } from "./twoJudges.ts";

const [kinds, count] = [6, 4];
const actions = Array.from({ length: count }, (_, i) => `a${i}`);
/** All observations of the corridor. */
const seenThere = Array.from({ length: kinds }, (_, k) => k).flatMap((k) =>
  ["start", ...actions].map((before) => `k${k} ${before}`),
);
const world = (seed: number): Environment =>
  corridor({ cells: 10, kinds, actions: count, layouts: 40, seed });
const rightIn = (environment: Environment, seen: string): string =>
  environment.expert!({} as Task, [{ role: "user", content: seen }], randomStream(1));

/** The judge of the domain begins with a label for every action everywhere, a quarter of them wrong. */
const beginning = (environment: Environment, seed: number): readonly LabelledStep[] =>
  seenThere.flatMap((seen) =>
    actions.map((action): LabelledStep => {
      const wrong = randomStream(seed).split("label", seen, action).next() < 0.25;
      return { seen, action, label: (rightIn(environment, seen) === action) === !wrong ? 1 : 0 };
    }),
  );

/** The general judge is wrong in one of ten calls, anew each time. */
const general = (environment: Environment) =>
  scorer<Attempt>("general judge", async ({ trajectory }, { random }) => {
    const turn = trajectory.turns.at(-1)!;
    const right = rightIn(environment, turn.prompt.at(-1)!.content) === turn.action.content.trim();
    return Number(right === random.next() >= 0.1);
  });

const grid = [10, 30, 100, 300].map((learningRate) => ({ learningRate }));

const arm = (what: string, options: Partial<TwoJudgesOptions>): Arm => ({
  what,
  grid,
  measure(choice, seed) {
    const environment = world(seed);
    const judge = stepJudge()(randomStream(seed));
    const steps = seenThere.flatMap((seen) => actions.map((action) => ({ seen, action })));
    const right = async (policy: Model): Promise<number> =>
      mean(
        await Promise.all(
          seenThere.map(async (seen) => {
            const task = { prompt: [{ role: "user", content: seen }] } as unknown as Task;
            const [p = 0] = await replyProbabilities(policy, task, [rightIn(environment, seen)]);
            return p;
          }),
        ),
      );
    return trainingArm({
      what,
      recipe: method({
        id: "two-judges",
        family: "judges",
        summary: what,
        helpers: { domain: () => judge },
        slots: (s) =>
          judgedByTwo(s, {
            general: general(environment),
            beginning: async () => beginning(environment, seed),
            ...options,
          }),
      }),
      environment: () => environment,
      engine: () =>
        tabularEngine({ context: "message", prior: (_, word) => (/^a\d$/.test(word) ? 0 : -1e9) }),
      iterations: 12,
      settings: { ...plainAscent, tasks: 20, groupSize: 4 },
      grid,
      metric: ({ policy }) => right(policy),
      more: async () => {
        const chances = await judge.predict(steps);
        return {
          "verdicts of the judge of the domain that are true": mean(
            steps.map(({ seen, action }, i) =>
              Number(chances[i]! >= 0.5 === (rightIn(environment, seen) === action)),
            ),
          ),
        };
      },
    }).measure(choice, seed);
  },
});

export default defineCheck({
  id: "magicgui-rms",
  level: "shared",
  claim:
    "An agent learns more right actions from two judges whose disagreements teach the one of the domain than from that judge alone.",
  metric: "probability of the right action, exact, mean over observations",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "agent"],
  unequalCost: "every arm plays as many episodes; a better agent falls later, and so takes more steps",
  baseline: arm("the judge of the domain alone", { asked: 0, reflux: false }),
  method: arm("a general judge on three of ten steps; disagreements teach the judge of the domain", {}),
  others: {
    agent: arm("a general judge on three of ten steps, for the agent alone", { reflux: false }),
    general: arm("a general judge on every step, for the agent alone", { asked: 1, reflux: false }),
  },
});
