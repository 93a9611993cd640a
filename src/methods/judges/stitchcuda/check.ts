import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import { allSequences } from "../../../env/oneReply.ts";
import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptWords } from "../../../rollout/retryWithFeedback.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { bothSkills } from "./bothSkills.ts";
import { type Programs, programs, ways } from "./programs.ts";
import { type RubricRewardOptions, rubricReward } from "./rubricReward.ts";

const replies = allSequences(ways, 3);

/** Told "wrong at step k" of its attempt, the coder writes the word that it had there with an eighth of the odds. */
const reading: Reading = {
  isRead: (message) => message.startsWith("your attempt"),
  shift(messages, reply, word) {
    const told = messages.join(" ").split(/\s+/);
    const at = told.indexOf("step");
    if (at < 0) return 0;
    const step = Number(told[at + 1]);
    const words = told.filter((said) => ways.some((way) => way === said));
    return reply.length === step && words[step] === word ? -Math.log(8) : 0;
  },
};

/** Each word is as likely at first; programs have three, and a table of results is a fifth as likely as the rest. */
const engine = () =>
  tabularEngine({
    reading,
    prior: (context, word) => {
      const begun = context.length - 1 - context.lastIndexOf("<assistant>");
      if (begun >= 3) return word === "<end>" ? 0 : -1e9;
      return !ways.some((way) => way === word) ? -1e9 : word === "lookup" ? -Math.log(5) : 0;
    },
  });

const arm = (what: string, rewardOf: (world: Programs) => RubricRewardOptions, improving = true): Arm => {
  const grid = [10, 30, 100, 300].map((learningRate) => ({ learningRate }));
  const armIn = (seed: number): Arm => {
    const world = programs(seed);
    const expected = (
      policy: Parameters<typeof expectedValue>[0],
      of: (reply: string, task: Parameters<Programs["worthOf"]>[0]) => number,
    ) =>
      meanOver(world.tasks("train"), (task) =>
        expectedValue(policy, task, replies, (reply) => of(reply, task)),
      );
    return trainingArm({
      recipe: method({
        id: "rubric",
        family: "judges",
        summary: what,
        says: [attemptWords],
        slots: (s) => ({
          rollout: improving ? bothSkills(multiTurn(s)) : multiTurn({ ...s, groupSize: 2 * s.groupSize }),
          feedback: rubricReward(rewardOf(world)),
        }),
      }),
      environment: () => world,
      engine,
      iterations: 80,
      settings: { ...plainAscent, tasks: 8, groupSize: 4 },
      grid,
      metric: ({ policy }) => expected(policy, (reply, task) => world.worthOf(task, reply)),
      more: async ({ policy }) => ({
        "share of programs that are faked": await expected(policy, (reply) =>
          Number(reply.includes("lookup")),
        ),
        "share of programs that are right and not faked": await expected(policy, (reply, task) =>
          Number(world.worthOf(task, reply) > 0),
        ),
      }),
    });
  };
  return { what, grid, measure: (choice, seed) => armIn(seed).measure(choice, seed) };
};

export default defineCheck({
  id: "stitchcuda",
  level: "table",
  claim:
    "With a rubric and a veto beside the rules, a coder writes programs that are right and fast, where rules alone teach it to fake the tests.",
  metric: "expected worth of a program, 0 where it is faked or wrong, exact, after 80 iterations",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "unvetoed", "unrated"],
  baseline: arm("rules alone", () => ({})),
  method: arm("rules, rubric and veto", ({ rubric, veto }) => ({ rubric, veto })),
  others: {
    unvetoed: arm("rules and rubric", ({ rubric }) => ({ rubric })),
    unrated: arm("rules and veto", ({ veto }) => ({ veto })),
    writing: arm(
      "rules, rubric and veto, without improving",
      ({ rubric, veto }) => ({ rubric, veto }),
      false,
    ),
  },
});
