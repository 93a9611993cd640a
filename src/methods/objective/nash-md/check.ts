import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { against, lastIterate, penalised } from "../../../worlds/arms/preferences.ts";
import { preferenceGame } from "../../../worlds/preferenceGame.ts";
import { nashMd } from "./method.ts";

const beta = 0.1;
const environment = (seed: number) => preferenceGame({ seed, questions: 4, replies: 5 });

const rates = [4, 15, 30, 60, 90, 120];

const arm = (recipe: Recipe, { groupSize = 8, steps = rates } = {}): Arm =>
  lastIterate({ beta, environment }, { recipe, groupSize, rates: steps });

/** Nash-MD with as many choices as the others: fewer step sizes, and two shares of the reference. */
function shared(shares: readonly number[], steps: readonly number[]): Arm {
  const arms = shares.map((share) =>
    arm({ ...nashMd, build: (settings) => nashMd.build(settings, { share }) }, { steps: [...steps] }),
  );
  return {
    what: arms[0]!.what,
    grid: shares.flatMap((share) => steps.map((learningRate) => ({ share, learningRate }))),
    measure: (choice, seed) => arms[shares.indexOf(Number(choice.share))]!.measure(choice, seed),
  };
}

export default defineCheck({
  id: "nash-md",
  level: "shared",
  simpler: ["baseline", "best response to the reference", "RLHF"],
  claim:
    "Where preferences run in circles, an opponent that is partly the reference brings the last policy nearer to the Nash policy of the regularised game than plain self-play with the same penalty.",
  metric: "divergence from the regularised Nash policy after 100 updates, nats, exact",
  direction: "lower",
  smallestEffect: 0.02,
  baseline: arm(against("policy", beta)),
  method: shared([0.5, 0.25], [15, 60, 120]),
  notes:
    "The first designs' opponent was RLHF with a score per reply, which Nash-MD beats (0.06 against 0.20 nats); self-play with the same penalty was nearer than both (0.02). The opponent's fixed share of the reference leaves a bias; the share is tuned here beside the step size. Without any penalty self-play runs away (more than 1 nat): the mixture is not needed where the penalty damps the chase. In exploitability, which the penalty bounds for all, the arms differ little (0.10 to 0.15).",
  others: {
    "best response to the reference": arm(against("reference", beta)),
    RLHF: arm(
      penalised("rlhf", "RLHF: each reply's score is its mean win rate, same penalty", beta, {
        advantage: leaveOneOut(),
      }),
      { groupSize: 16 },
    ),
  },
});
