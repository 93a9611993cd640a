import type { Rollout } from "../../../core/slots.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { hintOf } from "./hintedWhereHopeless.ts";
import { ghpoHints } from "./method.ts";

const world = (seed: number) => ({ secrets: 12, success: [1e-4, 0.05], seed }) as const;
/** Attempts of every arm, those for nothing included. */
const episodes = 9600;
const groupSize = 8;

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations: 10_000,
    episodes,
    settings: { ...plainAscent, tasks: 6, groupSize },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => unaidedSuccess(policy, secrets(world(seed))),
    more: ({ curve }) => ({ "hinted tasks, last": curve.at(-1)?.hinted ?? 0 }),
  });

/** Half of the reference for every task in the first half of training, then none. */
const fixedHint: Rollout = async (ctx) => {
  const until = episodes / 2 / (6 * groupSize);
  const played = await Promise.all(
    ctx.tasks.flatMap((task) => {
      const advice = ctx.clock.iteration < until ? hintOf(task, 0.5) : undefined;
      return Array.from({ length: groupSize }, (_, attempt) =>
        ctx.play({ task: task.id, attempt, ...(advice !== undefined && { advice }) }),
      );
    }),
  );
  const trajectories = played.flat();
  return { trajectories, units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })) };
};

const withFixedHint = method({
  id: "fixed-hint",
  family: "curriculum",
  summary: "half of the reference for every task, in the first half of training",
  says: ["hint"],
  slots: { rollout: fixedHint },
});

export default defineCheck({
  id: "ghpo-hints",
  level: "shared",
  simpler: ["baseline", "fixed hint"],
  claim:
    "At equal attempts, hints only where a whole group fails teach more secrets to be said unaided than GRPO, which never finds the hard ones.",
  metric: "probability of the whole secret without a hint, exact, after 9600 attempts",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm("GRPO", grpo),
  method: arm("hints where a group fails", ghpoHints),
  others: { "fixed hint": arm("a hint of half of the words in the first half", withFixedHint) },
});
