import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainingArm } from "../../../train/trainingArm.ts";
import { type Chores, chores, wasShown } from "./chores.ts";
import { yayRobotWith } from "./method.ts";

const world = (seed: number, corrected = 0.2): Chores => chores({ seed, corrected, tasks: 60 });
const commands = Array.from({ length: 12 }, (_, c) => `c${c}`);

/** A situation has about half of fourteen features; a linear planner cannot memorise each situation separately. */
const engine = (seed: number) =>
  tabularEngine({
    context: "message",
    prior: (_context, word) => (/^c\d+$/.test(word) ? 0 : -1e9),
    features: (context) =>
      Array.from({ length: 14 }, (_, f) => `f${f}`).filter(
        (name) =>
          randomStream(seed)
            .split("feature", name, ...context)
            .next() < 0.5,
      ),
  });

/** Share of situations in a range for which the likeliest command is right, without corrections. */
async function autonomy(policy: Model, { rights, tasks }: Chores, from: number, to: number): Promise<number> {
  const [task] = tasks("train");
  const right = rights.slice(from, to).map(async (command, i) => {
    const prompt = [{ role: "user", content: `s${from + i}` } as const];
    const p = await replyProbabilities(policy, { ...task!, prompt }, commands);
    return Number(commands[p.indexOf(Math.max(...p))] === command);
  });
  return mean(await Promise.all(right));
}

const arm = (what: string, newest: number, corrected?: number): Arm =>
  trainingArm({
    what,
    recipe: yayRobotWith({ newest, steps: 60, shown: wasShown }),
    environment: (seed) => world(seed, corrected),
    engine,
    iterations: 7,
    settings: { tasks: 40, groupSize: 1, optimiser: "sgd" },
    grid: [0.3, 1, 3, 10, 30].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => autonomy(policy, world(seed), 0, 30),
    more: async ({ policy }, seed) => ({
      shown: await autonomy(policy, world(seed), 0, 20),
      unseen: await autonomy(policy, world(seed), 20, 30),
    }),
  });

export default defineCheck({
  id: "yay-robot",
  level: "table",
  claim:
    "Fine-tuned on old data and spoken corrections in equal parts, a planner gets along by itself in situations that nobody had shown, and keeps most of what it could.",
  metric: "share of situations in which the planner's own command is right, nobody speaking",
  direction: "higher",
  smallestEffect: 0.05,
  tuningSeeds: 2,
  baseline: arm("nobody speaks up", 0.5, 0),
  method: arm("half of each batch from the newest corrections", 0.5),
  others: {
    few: arm("a tenth from the newest corrections", 0.1),
    most: arm("nine tenths from the newest corrections", 0.9),
  },
});
