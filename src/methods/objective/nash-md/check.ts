import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { against, lastIterate } from "../../../worlds/arms/preferences.ts";
import { preferenceGame } from "../../../worlds/preferenceGame.ts";
import { nashMd } from "./method.ts";

const beta = 0.1;
const environment = (seed: number) => preferenceGame({ seed, questions: 4, replies: 5 });

const arm = (recipe: Recipe, rates: readonly number[]): Arm =>
  lastIterate({ beta, environment }, { recipe, rates });

/** Nash-MD with as many choices as the others: fewer step sizes, and three shares of the reference. */
function shared(shares: readonly number[], steps: readonly number[]): Arm {
  const arms = shares.map((share) =>
    arm({ ...nashMd, build: (settings) => nashMd.build(settings, { share }) }, steps),
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
  simpler: ["baseline"],
  claim:
    "Where preferences run in circles, an opponent that is partly the reference brings the last policy nearer to the Nash policy of the regularised game than plain self-play with the same penalty.",
  metric: "divergence from the regularised Nash policy after 100 updates, nats, exact",
  direction: "lower",
  smallestEffect: 0.002,
  range: "unbounded",
  baseline: arm(against("policy", beta), [4, 8, 15, 22, 30, 45, 60, 90, 120]),
  method: shared([0.5, 0.25, 0.125], [15, 30, 60]),
  notes:
    "The first designs' opponent was RLHF with a score per reply, which Nash-MD beats (0.06 against 0.20 nats); self-play with the same penalty was nearer than both (0.02). The third gave the method two shares, of which the smaller did best, without the step size that served self-play best, and asked for a lead of 0.02 where self-play is within 0.01 of the Nash policy: no method could have won. The opponent's fixed share of the reference leaves a bias; the share is tuned here beside the step size. Without any penalty self-play runs away (more than 1 nat): the mixture is not needed where the penalty damps the chase. In exploitability, which the penalty bounds for all, the arms differ little (0.10 to 0.15).",
});
