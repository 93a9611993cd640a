import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { checkQuestion } from "./adversary.ts";
import { checkWords, claimant, claimReader, claims, places, questions, validator } from "./claims.ts";
import { adversarial } from "./method.ts";

/** Validator calls of every arm. */
const calls = 1600;

/** π of the only answer that keeps all rules, exact; mean over the questions. */
const keptBy = (policy: Model, seed: number): Promise<number> => {
  const world = claims(seed);
  return meanOver(world.tasks("train"), async (task) => {
    const right = world.expert!(task, task.prompt, randomStream(1));
    return (await replyProbabilities(policy, task, [right]))[0]!;
  });
};

interface Way {
  readonly what: string;
  readonly slots: (seed: number) => (s: Settings) => SlotChoices;
  /** Share of the rules that the critic knows from the start. */
  readonly known?: number;
  readonly tasks: number;
  readonly groupSize: number;
  /** Validator calls for each answer. */
  readonly each: number;
}

const arm = ({ what, slots, known = 0, tasks, groupSize, each }: Way, grid: Arm["grid"]): Arm => ({
  what,
  grid,
  measure: (choice, seed) =>
    trainingArm({
      recipe: method({
        id: "rlac",
        family: "self-play",
        summary: what,
        models: { critic: { from: "policy" } },
        says: [checkQuestion, ...checkWords],
        slots: slots(seed),
      }),
      environment: claims,
      engine: () => tabularEngine({ prior: claimant(seed, known), features: claimReader }),
      iterations: calls / (tasks * groupSize * each),
      settings: { ...plainAscent, tasks, groupSize },
      grid,
      metric: ({ policy }) => keptBy(policy, seed),
      more: ({ curve }) => ({
        "caught, first quarter": averageOf(curve.slice(0, curve.length / 4), "caught"),
        "caught, last quarter": averageOf(curve.slice(-curve.length / 4), "caught"),
      }),
    }).measure(choice, seed),
});
/** Step sizes of the generator; the critic's are shares of them. */
const grid = [200, 300].flatMap((learningRate) =>
  [0.03, 0.1].map((criticRate) => ({ learningRate, criticRate })),
);
/** Without a critic that learns, as many step sizes. */
const plain = [100, 200, 300, 600].map((learningRate) => ({ learningRate }));

const game = (what: string, checks: number, more: Partial<Way> = {}): Way => ({
  what,
  slots: (seed) => adversarial({ validate: validator(seed), checks, maxTokens: 1 }),
  tasks: questions,
  groupSize: 10,
  each: checks,
  ...more,
});

/** Rewards of the answers alone; the critic is never trained. */
const unlearnt =
  (way: Way): Way["slots"] =>
  (seed) =>
  (s) => {
    const slots = way.slots(seed)(s);
    const played = slots.rollout as Rollout;
    return {
      ...slots,
      rollout: async (ctx) => {
        const all = await played(ctx);
        return { ...all, units: all.units.filter(({ group }) => !group.endsWith("/checks")) };
      },
    };
  };

/** Every answer is verified by all eight checks. */
const exhaustive = (what: string, reward: (kept: number) => number): Way => ({
  what,
  tasks: 5,
  groupSize: 5,
  each: places,
  slots:
    (seed) =>
    ({ groupSize, temperature }) => ({
      rollout: multiTurn({ groupSize, temperature }),
      feedback: async (ctx, { trajectories }) =>
        Promise.all(
          trajectories.map(async (t) => {
            const verdicts = checkWords
              .slice(0, places)
              .map((check) => validator(seed)(ctx, ctx.task(t.task), t, check));
            const kept = (await Promise.all(verdicts)).filter((verdict) => verdict === "passed").length;
            ctx.count("verifier.calls", places);
            const about = [{ trajectory: t.id }];
            return { kind: "reward", channel: "outcome", about, value: reward(kept), source: "validator" };
          }),
        ),
    }),
});

const one = game("one check, named by a critic that learns", 1);
const fixed = game("one check, named by a critic that knows four rules in five and does not learn", 1, {
  known: 0.8,
});

export default defineCheck({
  id: "rlac",
  level: "table",
  claim:
    "At equal verification, a generator learns to keep all rules sooner where a critic that learns names the one check of each answer than where every answer is verified by all checks.",
  metric: "probability of an answer that keeps all eight rules after 1,600 validator calls, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "random", "fixed", "all or nothing"],
  notes:
    "At equal calls, few answers verified in full teach more than many answers of one check: a check of one place says nothing of the other seven, and its reward falls on all eight words. What a critic knows is worth much: one that knows four rules in five from the start, and does not learn, is level with full verification (0.70 and 0.68). One that has to learn them within the 1,600 calls is no better than checks at random (0.31 and 0.34). Tried on other seeds: DPO on pairs, as the paper trains (with 10 questions and 4,000 calls 0.6 to 0.7, full verification 0.8), N = 2 (worse), groups of 5 answers (worse), and a critic with one row for each question, which does not read the answer (no better). With 10 questions, 4,000 calls and groups of 8 to 10 answers verified in full, the two come near each other (0.84 and 0.76 on two seeds).",
  unequalCost:
    "every arm has 1,600 validator calls: 1,600 answers of one check, or 200 of eight; the critic writes one word for each of its checks",
  baseline: arm(
    exhaustive("all eight checks of every answer, the more kept the better", (kept) => kept),
    plain,
  ),
  method: arm(one, grid),
  others: {
    random: arm({ ...one, what: "one check at random", slots: unlearnt(one) }, plain),
    fixed: arm({ ...fixed, slots: unlearnt(fixed) }, plain),
    "all or nothing": arm(
      exhaustive("all eight checks of every answer, all have to hold", (kept) => Number(kept === places)),
      plain,
    ),
  },
});
