import { lastMessage } from "../../../common/tokens/turns.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { leaning } from "../../../worlds/arms/corridor.ts";
import { keyDoor } from "../../../worlds/keyDoor.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { turnPpo } from "../../baseline/turn-ppo/method.ts";
import { archerWith } from "./method.ts";

const cells = 5;

/** Only the open door has a reward. */
const paidAtTheDoor = (recipe: Recipe): Recipe => ({
  ...recipe,
  build: (settings) => {
    const built = recipe.build(settings);
    const feedback = [turnRewards({ rewards: ["outcome"], unpaid: "zero" })];
    return { ...built, slots: { ...built.slots, feedback } };
  },
});

/** Tables over the current observation, which is the whole state; more and larger steps than the default, which tables tolerate. */
const archer = archerWith(
  { observation: lastMessage, criticSteps: 40, actorSteps: 10 },
  { blend: 0.3, learningRate: 0.5, spread: 0.001 },
);

const arm = (recipe: Recipe, rates: readonly number[], epochs: number): Arm =>
  trainingArm({
    recipe: paidAtTheDoor(recipe),
    environment: () => keyDoor({ cells, turns: 40 }),
    engine: leaning(0, cells),
    iterations: 40,
    contextTokens: 1024,
    settings: {
      ...plainAscent,
      tasks: 1,
      groupSize: 4,
      epochs,
    },
    grid: rates.map((learningRate) => ({ learningRate })),
    more: ({ curve }) => ({ final: curve.slice(-10).reduce((sum, m) => sum + m.success! / 10, 0) }),
  });

export default defineCheck({
  id: "archer",
  level: "shared",
  simpler: ["grpo"],
  claim: "Critics of utterances that learn from a replay need fewer episodes than PPO does.",
  metric: "mean success over 40 iterations of 4 episodes",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  baseline: arm(turnPpo, [0.3, 1, 3, 10], 4),
  method: arm(archer, [100, 300, 1000, 3000], 1),
  others: { grpo: arm(grpo, [10, 30, 100, 300], 1) },
  tuningSeeds: 2,
  notes:
    "GRPO stands beside the two, since it is the harder one to beat here: in a table of ten states ten iterations are enough without a critic. With the critics' defaults (20 and 5 steps, τ = 0.1) ArCHer was slower than both (0.69 against 0.88 for GRPO in 4 cells, one seed), as values need two slow links for each turn that they go back; more and larger steps of the critics narrow that. In 6 cells everybody waits for a first success. The gain of the paper, over utterances of many tokens and with a critic that generalises, is more than a table can show.",
  unequalCost:
    "episodes are the budget; ArCHer also samples utterances at replayed observations, which no environment answers",
});
