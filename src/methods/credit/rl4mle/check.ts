import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import type { Advantage } from "../../../core/slots.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { deadline } from "./deadline.ts";
import { jobs } from "./jobs.ts";
import { rl4mle } from "./method.ts";
import { milestones } from "./milestones.ts";

/** The same windows and rewards, with equal weight for every finished action. */
const unweighted = (id: string, summary: string, advantage: Advantage) =>
  method({
    id,
    family: "credit",
    summary,
    slots: ({ groupSize }) => ({
      rollout: deadline({ window: 12, workers: groupSize }),
      feedback: milestones(),
      credit: perTurn(),
      advantage,
    }),
  });

const prior = (_: readonly string[], word: string): number => (["fast", "slow"].includes(word) ? 0 : -1e9);

async function slow({ policy }: TrainedInMemory): Promise<number> {
  const prompt = policy.codec.open(jobs().tasks("train")[0]!.prompt);
  const { logp } = await policy.score(pairRows([{ prompt, target: policy.codec.encode("slow") }]));
  return Math.exp(logp[0]!);
}

const arm = (recipe: TrainingArm["recipe"]): Arm =>
  trainingArm({
    recipe,
    environment: () => jobs(),
    engine: () => tabularEngine({ context: "message", prior }),
    iterations: 60,
    settings: { tasks: 1, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.01, 0.03, 0.1, 0.3, 1].map((learningRate) => ({ learningRate })),
    metric: slow,
  });

export default defineCheck({
  id: "rl4mle",
  level: "table",
  simpler: ["runningBaseline"],
  claim: "Under a deadline, weighting actions by their duration finds the slow, better program.",
  metric: "probability of the slow program after 60 windows, exact",
  direction: "higher",
  smallestEffect: 0.1,
  tuningSeeds: 2,
  baseline: arm(unweighted("unweighted", "every finished action alike", returnsToGo({ baseline: "none" }))),
  method: arm(rl4mle),
  others: {
    runningBaseline: arm(
      unweighted("running", "unweighted, against a running mean of returns", runningBaseline()),
    ),
  },
  unequalCost:
    "The budget is time, 60 windows of 12 s for 8 actors: an arm that runs fast programs finishes more of them.",
  notes:
    "Without weights the smallest step size is best, since standing still at 0.5 is the best it can do: that edge of the grid is no room left. The bias only turns the direction where all returns count as good (an untrained critic): against a mean of returns that lies between the two scores the unweighted rule finds the slow program as well (the arm runningBaseline), and where every started job is waited for there is nothing to undo.",
});
