import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { applied, chains, valuesOf } from "../../../worlds/chains.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import type { Propose } from "./intervened.ts";
import { interventionPhase, intIntervention } from "./method.ts";

const base = 10;
const operations = ["plus3", "times7", "plus8"];

/** Initially likeliest answer of a step: right, except for half of the third operation's inputs. */
const habit = (operation: string, value: number): number =>
  (applied(operation, value, base) + (operation === operations[2] && value % 2 === 0 ? 1 : 0)) % base;

/** The habit has probability 0.9; the other nine digits share the rest. */
const engine = () =>
  tabularEngine({
    context: "message",
    prior: ([, operation = "", value = ""], word) => {
      if (!/^\d$/.test(word)) return -1e9;
      return Number(word) === habit(operation, Number(value)) ? Math.log((0.9 * 9) / 0.1) : 0;
    },
  });

/** A table cannot read a reference: the right value at the first wrong step replaces a model's proposal. */
const located: Propose = async (ctx, failed, steps) => {
  const right = valuesOf(ctx.task(failed.task));
  const step = steps.findIndex(({ text }, k) => Number(text) !== right[k]);
  return step < 0 ? undefined : { step, text: String(right[step]) };
};

/** The method itself, with these exact proposals. */
const withLocated = method({ ...intIntervention, slots: {}, phases: interventionPhase(located) });

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment: (seed) => chains({ operations, steps: 6, stepRewards: false, base, seed }),
    engine,
    iterations: 60,
    settings: {
      ...plainAscent,
      tasks: 8,
      groupSize: 8,
    },
    grid: [100, 300, 1000, 3000, 10_000, 30_000].map((learningRate) => ({ learningRate })),
    more: ({ curve }) => ({
      final: curve.at(-1)!.success!,
      deadGroups: curve.slice(15, 35).reduce((sum, m) => sum + m.deadGroups! / 20, 0),
    }),
  });

export default defineCheck({
  id: "int-intervention",
  level: "shared",
  claim: "Imitating corrections of first wrong steps before practice leads further than practice alone.",
  metric: "mean success over 60 updates, the 15 of imitation among them",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  baseline: arm(grpo),
  method: arm(withLocated),
  tuningSeeds: 2,
});
