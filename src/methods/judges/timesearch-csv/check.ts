import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { averageOf, plainAscent } from "../../../train/trainingArm.ts";
import { readerPrior } from "../../../worlds/arms/inquiry.ts";
import { inquiry } from "../../../worlds/inquiry.ts";
import { type EvidenceReplayOptions, evidenceReplay } from "./evidenceReplay.ts";

/** Two findings with two values each: a guess is right in one of four, and in one of two after the first finding. */
const world = { topics: 4, hops: 2, branching: 2, queries: 3, turns: 5 } as const;
const iterations = 60;

/** Both findings were seen before the last action. */
const complete = ({ turns }: Trajectory): boolean =>
  turns.at(-1)?.prompt.at(-1)?.content.split(" ").length === 1 + world.hops &&
  turns.at(-1)?.prompt.at(-1)?.content.startsWith("known") === true;

const arm = (what: string, options: EvidenceReplayOptions): Arm => ({
  what,
  grid: [10, 30, 100, 300].map((learningRate) => ({ learningRate })),
  async measure({ learningRate }, seed) {
    const engine = tabularEngine({ context: "message", prior: readerPrior(world) });
    const gathered: number[] = [];
    const recipe = method({
      id: "evidence",
      family: "judges",
      summary: what,
      slots: { feedback: evidenceReplay(options), advantage: groupNormalised({ scale: "none" }) },
    });
    const { curve, counters } = await trainInMemory({
      environment: inquiry({ ...world, seed }),
      method: recipe.build({ ...plainAscent, tasks: 8, groupSize: 8, learningRate: Number(learningRate) }),
      engine,
      seed,
      iterations,
      onIteration: ({ experience }) =>
        void gathered.push(mean(experience.trajectories.map((t) => Number(complete(t))))),
    });
    return {
      value: mean(gathered),
      cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
      curve: gathered,
      more: {
        "right answers, mean": averageOf(curve, "success"),
        "right answers in the last 10 iterations": averageOf(curve.slice(-10), "success"),
        "both findings in the last 10 iterations": mean(gathered.slice(-10)),
      },
    };
  },
});

export default defineCheck({
  id: "timesearch-csv",
  level: "shared",
  claim:
    "Where answers can be guessed, a second answer from the evidence alone teaches a search for all of it sooner than the first answer alone.",
  metric: "share of attempts that saw both findings, mean over 60 iterations",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "doubled"],
  unequalCost:
    "a second answer is one more episode of one turn, asked for after a right answer; training attempts are equal",
  baseline: arm("form and right answers", { evidence: 0 }),
  method: arm("form, right answers, and right answers from the evidence alone", {}),
  others: {
    doubled: arm("form, and right answers at twice the weight", { answer: 1, evidence: 0 }),
    ungated: arm("evidence pays also where the answer was wrong", { gated: false }),
  },
});
