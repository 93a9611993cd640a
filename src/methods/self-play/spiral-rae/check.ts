import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import type { Advantage } from "../../../core/slots.ts";
import { exploitability, type Game, gameEnvironment, kuhnPoker, strategyOf } from "../../../env/index.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { exploitabilityCurve, moveTables } from "../../../worlds/arms/games.ts";
import { spiralRae } from "./method.ts";

/** Chips that the second role pays the first before each game: the equilibrium stays as it is, the roles' values move apart. */
const fee = 2;
const game: Game = {
  ...(kuhnPoker as Game),
  forfeit: kuhnPoker.forfeit + fee,
  payoffs: (state) => (kuhnPoker as Game).payoffs(state).map((won, role) => won + (role === 0 ? fee : -fee)),
};
const environment = gameEnvironment(game);
const iterations = 200;

/** The method with another estimator. */
const estimatedBy = (advantage: Advantage): Recipe => ({
  ...spiralRae,
  build: (settings, options) => {
    const built = spiralRae.build(settings, options);
    return { ...built, slots: { ...built.slots, advantage: [advantage] } };
  },
});

const grid = [10, 30, 100, 300].map((learningRate) => ({ learningRate }));

function arm(what: string, recipe: Recipe): Arm {
  return {
    what,
    grid,
    measure(choice, seed) {
      const following = exploitabilityCurve(environment);
      let iteration = 0;
      return trainingArm({
        recipe,
        environment: () => environment,
        engine: () => moveTables(environment),
        iterations,
        settings: { ...plainAscent, tasks: 8, groupSize: 8 },
        grid,
        follow: async (policy) => {
          await following.look(policy, ++iteration % 50 === 0);
          return following.curve.at(-1)?.average ?? Number.NaN;
        },
        metric: () => following.curve.at(-1)!.average,
        more: async ({ policy }) => {
          const { strategy } = await strategyOf(environment.tree(), policy);
          return { "exploitability, last policy": exploitability(environment.tree(), strategy) };
        },
      }).measure(choice, seed);
    },
  };
}

export default defineCheck({
  id: "spiral-rae",
  level: "shared",
  simpler: ["baseline", "shared"],
  claim:
    "Where the roles of a zero-sum game expect different returns, a baseline for each role brings self-play nearer to the equilibrium than no baseline or a common one.",
  metric:
    "exploitability in Kuhn poker of the average of all policies after 12,800 games, in chips a game, exact",
  direction: "lower",
  smallestEffect: 0.005,
  range: [0, 1.5],
  notes:
    "The second role pays the first a fee of 2 chips before each game, so that the roles' values, ±1/18 in Kuhn poker itself, are about +2 and −2: that is the case in which a baseline for each role matters. The equilibrium stays as it is.",
  baseline: arm("no baseline", estimatedBy(returnsToGo({ baseline: "none" }))),
  method: arm("a moving baseline for each role", spiralRae),
  others: {
    "leave-one-out": arm(
      "the mean of the other games of the same task and role, nothing that moves",
      estimatedBy(leaveOneOut()),
    ),
    shared: arm("one moving baseline for both roles", estimatedBy(runningBaseline({ keep: 0.95 }))),
  },
});
