import type { Model } from "../../../core/model.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { ladders, qualityAfter, rightEdit } from "../../../worlds/ladders.ts";
import { exit } from "./method.ts";

const levels = 10;
/** Edits that are chained at test time. */
const chained = 16;
/** Room for as many edits as any attempt is long. */
const world = (seed: number) => ladders({ ladders: 12, levels, turns: 40, seed });

/** Expected quality after 16 edits from the bottom, exact; mean over the ladders. */
const qualityOf = (policy: Model, seed: number): Promise<number> =>
  meanOver(world(seed).tasks("train"), async (task) => {
    const right: number[] = [];
    for (let level = 0; level < levels; level++) {
      const prompt = [{ role: "user" as const, content: `l${task.metadata.number} level ${level}` }];
      right.push((await replyProbabilities(policy, { ...task, prompt }, [rightEdit(task, level)]))[0]!);
    }
    return qualityAfter(right, chained).at(-1)!;
  });

/** Eight groups of eight attempts of `turns` edits, 12,800 edits in all. */
const arm = (what: string, recipe: Recipe, turns = 1) =>
  trainingArm({
    what,
    recipe,
    environment: world,
    engine: () =>
      tabularEngine({
        context: "message",
        prior: (_context, word) => (/^e\d$/.test(word) ? 0 : -1e9),
      }),
    iterations: 200 / turns,
    settings: { ...plainAscent, tasks: 8, groupSize: 8 },
    grid: [10, 30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => qualityOf(policy, seed),
    more: ({ curve }) => ({ "depth, last": curve.at(-1)?.depth ?? 0 }),
  });

const limited = (id: string, turns: number): Recipe =>
  method({
    id,
    family: "curriculum",
    summary: "GRPO on the quality of episodes of a fixed number of edits",
    slots: ({ groupSize }) => ({ rollout: multiTurn({ groupSize, limits: { turns } }) }),
  });

const from = (sharpness: number): Recipe => ({
  ...exit,
  build: (settings) => exit.build(settings, { diverge: 0, sharpness }),
});

export default defineCheck({
  id: "exit",
  level: "shared",
  simpler: ["baseline", "first step", "uniform buffer"],
  claim:
    "Single steps from beginnings that vary most train further chains than whole attempts of a fixed number of steps, or first steps alone.",
  metric: "expected quality after 16 chained edits, exact",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  unequalCost:
    "equal edits; an attempt of the fixed depth has ten, so that there are a tenth as many attempts",
  notes:
    "No step asks for another approach: a table does not read that. The buffer by variance is worth a good deal (0.70, any beginning 0.58, first edits 0.29), but attempts of ten edits come to 0.94 once their step is large: here an edit changes nothing but the level, so the final quality of a long attempt says enough of each of its edits. An item that begins above a level that has been learnt inherits a variance of 0 and waits. Tried on one other seed, with a row of each level that all ladders share beside their own: attempts of ten edits 0.60, the method 0.42, any beginning 0.43, the first edit alone 0.29.",
  baseline: arm("GRPO on attempts of ten edits", limited("ten-edits", 10), 10),
  method: arm("single edits from the beginnings that vary most", from(6)),
  others: {
    "first step": arm("GRPO on the first edit alone", limited("one-edit", 1)),
    "uniform buffer": arm("single edits from any beginning", from(0)),
  },
});
