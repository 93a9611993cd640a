import { mean } from "../../../common/statistics/statistics.ts";
import type { StatefulHelper } from "../../../core/context.ts";
import type { Model } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, trainingArm } from "../../../train/trainingArm.ts";
import { type GuidedSearchOptions, rewardModel } from "./guidedSearch.ts";
import { type Menus, menuFeatures, menuReader, menuSpeaker, menus, wordsOfGoal } from "./menus.ts";
import { guided } from "./method.ts";
import { actedIn, goalOf, type Judged, unifiedReward } from "./rewardModel.ts";

/** Probability of doing a held-out task, exact: every word's entry in turn, and then the end. */
async function success(policy: Model, world: Menus): Promise<number> {
  const tasks = world.tasks("test");
  const chance = new Map<string, number>();
  const of = async (task: (typeof tasks)[number], word: string, reply: string): Promise<number> => {
    const known = chance.get(word);
    if (known !== undefined) return known;
    const content = word === "end" ? "open" : `open ${word}`;
    const [p] = await replyProbabilities(policy, { ...task, prompt: [{ role: "user", content }] }, [reply]);
    chance.set(word, p!);
    return p!;
  };
  const all: number[] = [];
  for (const task of tasks) {
    let p = await of(task, "end", "done");
    for (const word of wordsOfGoal(task.prompt[0]!.content)) p *= await of(task, word, world.entry(word));
    all.push(p);
  }
  return mean(all);
}

/** Probability that a right step scores above a wrong one, a tie counting half. */
async function ranked(reward: StatefulHelper<Judged, number, number>, world: Menus): Promise<number> {
  const steps = world.steps();
  const p = await reward.predict(steps.map(({ x }) => x));
  const scores = (right: boolean) => p.filter((_, i) => steps[i]!.right === right);
  const [good, bad] = [scores(true), scores(false)];
  return mean(good.flatMap((a) => bad.map((b) => (a > b ? 1 : a === b ? 0.5 : 0))));
}

const arm = (
  what: string,
  options: Partial<GuidedSearchOptions>,
  change = (r: Rollout): Rollout => r,
): Arm => ({
  what,
  grid: [0.1, 0.3, 1].map((learningRate) => ({ learningRate })),
  measure: (choice, seed) => {
    const world = menus(seed);
    const rewards: StatefulHelper<Judged, number, number>[] = [];
    return trainingArm({
      recipe: method({
        id: "ui-genie",
        family: "self-play",
        summary: what,
        helpers: {
          [rewardModel]: () => {
            const made = unifiedReward(menuFeatures)();
            rewards.push(made);
            return made;
          },
        },
        slots: () => {
          const slots = guided({ beam: 3, actions: 3, turns: 7, floor: 0.5, cotrained: true, ...options });
          return { ...slots, rollout: change(slots.rollout!) };
        },
      }),
      environment: () => world,
      engine: () => tabularEngine({ prior: menuSpeaker, features: menuReader }),
      iterations: 5,
      settings: { tasks: 32, epochs: 20, minibatches: 1, schedule: "constant", warmUp: 0 },
      grid: [],
      metric: ({ policy }) => success(policy, world),
      more: async ({ curve, counters }) => ({
        "environment's steps": counters["environment.steps"] ?? 0,
        "accepted of the explored, last two": averageOf(curve.slice(-2), "accepted"),
        "accepted that are right": averageOf(curve, "precision"),
        "right steps ranked above wrong": await ranked(rewards[0]!, world),
      }),
    }).measure(choice, seed);
  },
});

/** As many whole episodes of the policy, of which those are imitated that the reward model's outcome score accepts. */
const filtered =
  (episodes: number) =>
  (search: Rollout): Rollout =>
  async (ctx) => {
    const isShown = ({ metadata }: Task): boolean => metadata.demonstrated === true;
    const first = await search({ ...ctx, tasks: ctx.tasks.filter(isShown) });
    const tasks = ctx.tasks.filter((task) => !isShown(task));
    const played = await multiTurn({ groupSize: episodes })({ ...ctx, tasks });
    const ended = played.trajectories.filter(({ end }) => end.kind === "done");
    const p = await ctx
      .helper<Judged, number, number>(rewardModel)
      .predict(ended.map((t) => ({ mode: "task", goal: goalOf(ctx.task(t.task)), acted: actedIn(t) })));
    const kept = ended.filter((_, i) => p[i]! > 0.5);
    const right = kept.map(({ end }) => Number(end.kind === "done" && end.success === true));
    return {
      trajectories: [...first.trajectories, ...kept],
      units: [...first.units, ...kept.map(({ id, task }) => ({ id, group: task, members: [id] }))],
      stats: {
        accepted: new Set(kept.map(({ task }) => task)).size / tasks.length,
        ...(kept.length > 0 && { precision: mean(right) }),
      },
    };
  };

export default defineCheck({
  id: "ui-genie",
  level: "table",
  claim:
    "A search that a reward model of steps guides finds and teaches more than sampled episodes that its outcome score accepts.",
  metric: "probability of doing a held-out task of four words, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "fixed", "demonstrations"],
  unequalCost:
    "arms that explore take about as many steps of the environment, replayed ones included (`more`): a search replays the beginning of each of its candidates, so that it samples fewer tokens",
  notes:
    "The reward model begins with the demonstrations of half of the words and the rule that a screen carries its word's number, which is true of 85 % of the words. On six other seeds it was also trained on rejected episodes, the first step with a score below a half as wrong: this confirms what it believes anyway, and left it at 0.876 of right steps ranked above wrong ones. Actions that the search tried beside those of an accepted episode are errors that are known, and brought it to 0.956. That helps the reward model alone: with the model of the demonstrations, as it is, the agent does as well (0.351, trained further 0.335).",
  baseline: arm(
    "as many steps in whole episodes, filtered by the outcome score",
    { cotrained: false },
    filtered(24),
  ),
  method: arm("a search guided by a reward model that learns with the agent", {}),
  others: {
    fixed: arm("a search guided by the reward model of the demonstrations", { cotrained: false }),
    demonstrations: arm("demonstrations alone", { beam: 1, actions: 1, floor: 2, cotrained: false }),
  },
});
