import type { StatefulHelper } from "../../../core/context.ts";
import { randomStream, shuffled } from "../../../core/random.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { bradleyTerry, type ComparedExchanges } from "../../../helper/bradleyTerry.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { acts, type Cases, cases } from "./cases.ts";
import { type DebateRewardOptions, debateReward } from "./debateReward.ts";

const items = 4;
type Judge = StatefulHelper<ComparedExchanges, number | null, number>;

/** A judge of 1500 preferences, each by four findings of a case of its own. */
async function judgeOf(world: Cases, seed: number): Promise<Judge> {
  const judge = bradleyTerry({ strength: 1e-2, passes: 100 })(randomStream(seed).split("judge"));
  await judge.fit(
    Array.from({ length: 1500 }, (_, i) => {
      const random = randomStream(seed).split("preference", i);
      const evidence = shuffled(world.draw(random), random).slice(0, items);
      const asked = evidence.join(" ");
      const [first, second] = acts.map((replied) => ({ asked, replied }));
      return {
        x: { first: first!, second: second! },
        y: Number(world.preferredBy(evidence, random) === acts[0]),
        weight: 1,
      };
    }),
  );
  return judge;
}

const arm = (what: string, pays: Pick<DebateRewardOptions, "lambda" | "how">): Arm => {
  const grid = [0.3, 1, 3, 10].map((learningRate) => ({ learningRate }));
  const armIn = (world: Cases, judge: Judge): Arm =>
    trainingArm({
      recipe: method({
        id: "debated",
        family: "judges",
        summary: what,
        helpers: { judge: () => judge },
        slots: {
          feedback: debateReward({ ...pays, items, rivalOf: async (_ctx, task) => world.recordedOf(task) }),
        },
      }),
      environment: () => world,
      engine: () =>
        tabularEngine({
          prior: (context, word) => {
            const begun = context.at(-1) !== "<assistant>";
            if (begun) return word === "<end>" ? 0 : -1e9;
            return acts.some((act) => act === word) ? 0 : -1e9;
          },
          features: (context) =>
            context.at(-1) === "<assistant>" ? context.filter((word) => /^f\d/.test(word)) : ["over"],
        }),
      iterations: 60,
      settings: { ...plainAscent, tasks: 16, groupSize: 8 },
      grid,
      metric: ({ policy }) => agreed(policy, world),
      more: async ({ policy }) => ({
        "reward of the environment": await meanOver(world.tasks("train"), (task) =>
          expectedValue(policy, task, acts, (act) => (act === "a0" ? 1 : -1) * world.advantageOf(task)),
        ),
      }),
    });
  return {
    what,
    grid,
    async measure(choice, seed) {
      const world = cases(seed);
      return armIn(world, await judgeOf(world, seed)).measure(choice, seed);
    },
  };
};

/** Probability of what people prefer, mean over cases. */
const agreed = (policy: Parameters<typeof expectedValue>[0], world: Cases): Promise<number> =>
  meanOver(world.tasks("train"), (task) =>
    expectedValue(policy, task, acts, (act) => Number((act === "a0") === world.preferenceOf(task) > 0)),
  );

export default defineCheck({
  id: "debate-reward",
  level: "table",
  claim:
    "A debate over four of ten findings, added to the reward, teaches actions that people prefer more often than the reward alone.",
  metric: "probability of the action that people prefer, exact, mean over cases",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "random", "one"],
  baseline: arm("the reward of the environment alone", { lambda: 0 }),
  method: arm("half of the reward from debates", { lambda: 0.5 }),
  others: {
    quarter: arm("a quarter from debates", { lambda: 0.25 }),
    random: arm("half from a judge who sees four findings at random", { lambda: 0.5, how: "random" }),
    one: arm("half from a judge who hears one side alone", { lambda: 0.5, how: "one" }),
    all: arm("half from a judge who sees everything", { lambda: 0.5, how: "all" }),
  },
});
