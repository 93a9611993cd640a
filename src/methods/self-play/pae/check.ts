import { type Able, type Attempt, scorer } from "../../../core/evaluator.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Message, Task } from "../../../core/types.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe, type SlotChoices } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { pae, proposed } from "./method.ts";
import { type Propose, proposalQuestion, proposedBy } from "./proposing.ts";
import { type Site, site, siteReader, siteSpeaker } from "./site.ts";

const [tasks, groupSize, iterations] = [16, 8, 20];

/** What a task's expert does is the only way to do it: π of both of its actions, exact. */
const doneBy = (policy: Model, world: Site): Promise<number> =>
  meanOver(world.tasks("test"), async (task) => {
    const act = (conversation: readonly Message[]): string =>
      world.expert!(task, conversation, randomStream(1));
    const page = act(task.prompt);
    const seen = { role: "user", content: `${page} ${task.prompt[0]!.content}` } as const;
    const later = [...task.prompt, { role: "assistant", content: page } as const, seen];
    const chance = async (prompt: Task["prompt"], reply: string): Promise<number> =>
      (await replyProbabilities(policy, { ...task, prompt }, [reply]))[0]!;
    return (await chance(task.prompt, page)) * (await chance(later, act(later)));
  });

/** Right in all attempts that did what was asked for, and in 95 % of the others. */
const careful = (world: Site): Able<"score"> =>
  scorer<Attempt>("careful", async ({ task, trajectory }, { random }) =>
    Number(world.did(task, trajectory) || random.next() < 0.05),
  );
/** Never errs. */
const exact = (world: Site): Able<"score"> =>
  scorer<Attempt>("exact", async ({ task, trajectory }) => Number(world.did(task, trajectory)));
/** Believes what the agent says. */
const trusting: Able<"score"> = scorer<Attempt>("trusting", async ({ trajectory }) =>
  Number(trajectory.turns.at(-1)?.action.content.endsWith("done") ?? false),
);

/** No task of the test is ever proposed: what is measured there has been learnt from other tasks. */
const withoutHeldOut =
  (world: Site, propose: Propose): Propose =>
  async (ctx, given, count) => {
    const held = new Set(world.tasks("test").map(({ prompt }) => prompt[0]!.content));
    return (await propose(ctx, given, 3 * count)).filter((text) => !held.has(text));
  };

const knowing = (world: Site): Propose =>
  withoutHeldOut(world, proposedBy({ context: `site has ${world.things.join(" ")}` }));

const arm = (what: string, slots: (world: Site) => SlotChoices, attempts: number = groupSize): Arm => {
  // a recipe cannot see the world of its seed, which proposals and verdicts come from
  const at = (seed: number): Recipe =>
    method({
      id: "pae",
      family: "self-play",
      summary: what,
      models: { proposer: { from: "policy" } },
      says: [`${proposalQuestion}\n`],
      slots: slots(site(seed)),
    });
  const armAt = (seed: number): Arm =>
    trainingArm({
      what,
      recipe: at(seed),
      environment: site,
      engine: () => tabularEngine({ prior: siteSpeaker, features: siteReader }),
      iterations,
      settings: { ...plainAscent, tasks, groupSize: attempts },
      grid,
      metric: ({ policy }) => doneBy(policy, site(seed)),
      more: ({ curve }) => ({
        "judged as done, last 10 iterations": averageOf(curve.slice(-10), "return"),
        "done, last 10 iterations": averageOf(curve.slice(-10), "success"),
      }),
    });
  return { what, grid, measure: (choice, seed) => armAt(seed).measure(choice, seed) };
};
const grid = [5, 10, 20, 40, 80].map((learningRate) => ({ learningRate }));

const loop =
  (propose: (world: Site) => Propose, evaluator: (world: Site) => Able<"score"> = careful) =>
  (world: Site): SlotChoices =>
    proposed(tasks, { most: pae.options.most.default, propose: propose(world), evaluator: evaluator(world) });

/** The four given tasks, four times as many attempts at each as at a proposal. */
const givenAlone: Propose = async (_ctx, given) => given.map(({ prompt }) => prompt[0]!.content);

export default defineCheck({
  id: "pae",
  level: "table",
  claim:
    "Tasks that a proposer writes about the environment, judged by an evaluator that errs, teach an agent held-out tasks that practice on the given tasks does not.",
  metric: "probability of doing a held-out task, exact, mean over 12 that nobody practised",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  unequalCost: "every arm plays 2,560 episodes; what the proposer writes counts among the tokens",
  simpler: ["baseline", "blind", "given, exact"],
  notes:
    "What the four given tasks teach can do 0.36 of the held-out ones, with pages and controls that they do not show by chance: the given tasks alone cannot win by more. A first design, eight tasks of four attempts in 60 iterations with learning rates of 3 to 100, was tried on 20 seeds from 100: inconclusive, +0.033 [-0.091, +0.157]. The reported one has 16 tasks of eight attempts in 20 iterations.",
  baseline: arm(
    "the four given tasks alone, same evaluator",
    loop(() => givenAlone),
    4 * groupSize,
  ),
  method: arm("proposals of a proposer that knows what is on the site", loop(knowing)),
  others: {
    demonstrations: arm(
      "proposals of a proposer that is shown three of the four tasks",
      loop((world) => withoutHeldOut(world, proposedBy())),
    ),
    blind: arm(
      "proposals about anything",
      loop((world) => withoutHeldOut(world, proposedBy({ context: "site" }))),
    ),
    "given, exact": arm(
      "the four given tasks alone, an evaluator that never errs",
      loop(() => givenAlone, exact),
      4 * groupSize,
    ),
    trusting: arm(
      "an evaluator that believes the agent",
      loop(knowing, () => trusting),
    ),
  },
});
