import { pairRows } from "../../../common/tokens/pack.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { cellOf, doors, isDoor } from "./doors.ts";
import { epo } from "./method.ts";

const shape = { corridors: 16, cells: 6, every: 2, turns: 8 } as const;

/** Initial P(out), at doors and elsewhere. */
const temptation = { door: 0.85, elsewhere: 0.25 } as const;

/** The observation shows where the doors are; only "on" and "out" are allowed. */
const prior: Prior = (context, word) => {
  if (word !== "on" && word !== "out") return -1e9;
  const cell = Number(/^c\d+\.(\d+)$/.exec(context[1] ?? "")?.[1] ?? 0);
  const out = isDoor(cell, shape.every) ? temptation.door : temptation.elsewhere;
  return Math.log(word === "out" ? out : 1 - out);
};

/** Exact probability of getting to the end in time, mean over corridors. */
async function arrival({ policy }: TrainedInMemory): Promise<number> {
  let sum = 0;
  for (let corridor = 0; corridor < shape.corridors; corridor++) {
    const prompts = Array.from({ length: shape.cells }, (_, cell) =>
      policy.codec.open([{ role: "user", content: cellOf(corridor, cell) }]),
    );
    const target = policy.codec.encode("on");
    const { logp } = await policy.score(pairRows(prompts.map((prompt) => ({ prompt, target }))));
    let at_C = new Float64Array(shape.cells + 1);
    at_C[0] = 1;
    for (let turn = 0; turn < shape.turns; turn++) {
      const next_C = new Float64Array(shape.cells + 1);
      next_C[shape.cells] = at_C[shape.cells]!;
      for (let cell = 0; cell < shape.cells; cell++) {
        const on = Math.exp(logp[cell]!);
        next_C[cell + 1]! += at_C[cell]! * on;
        if (!isDoor(cell, shape.every)) next_C[cell]! += at_C[cell]! * (1 - on);
      }
      at_C = next_C;
    }
    sum += at_C[shape.cells]! / shape.corridors;
  }
  return sum;
}

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment: () => doors(shape),
    engine: () => tabularEngine({ context: "message", prior }),
    iterations: 40,
    settings: {
      ...plainAscent,
      tasks: 16,
      groupSize: 4,
    },
    grid: [60, 120, 240, 480].map((learningRate) => ({ learningRate })),
    metric: arrival,
    more: ({ curve }) => ({ entropy: curve.at(-1)!.entropy! }),
  });

export default defineCheck({
  id: "epo",
  level: "table",
  claim: "An entropy bonus held within a band finds the far reward where GRPO settles for the near one.",
  metric: "probability of getting to the end after 40 updates, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm(grpo),
  method: arm(epo),
  tuningSeeds: 2,
  notes:
    "A corridor is either found out or not, so the number of corridors decides how much a seed says: with 8 of them the effect was +0.06 ± 0.06 over 20 other seeds and −0.07 ± 0.11 over the first 8 reported ones; hence 16. Tried on other seeds with 24 corridors at the best step size: GRPO 0.81, EPO 0.86, the bonus without the band 0.89. So what there is of an effect comes from the bonus. The late growth of entropy that the band is made against does not arise in a table, where no state's policy moves another's; easier corridors (a door's pull of 0.7, groups of 16) are solved with and without a bonus.",
});
