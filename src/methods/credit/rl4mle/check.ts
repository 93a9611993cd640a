import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import type { Model } from "../../../core/model.ts";
import type { Advantage } from "../../../core/slots.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { deadline } from "./deadline.ts";
import { durationWeighted } from "./durationWeighted.ts";
import { jobs } from "./jobs.ts";
import { rl4mle } from "./method.ts";
import { milestones } from "./milestones.ts";

/** The same windows and rewards, with other advantages. */
const weighed = (id: string, summary: string, advantage: Advantage | readonly Advantage[]) =>
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

async function slow(policy: Model): Promise<number> {
  const prompt = policy.codec.open(jobs().tasks("train")[0]!.prompt);
  const { logp } = await policy.score(pairRows([{ prompt, target: policy.codec.encode("slow") }]));
  return Math.exp(logp[0]!);
}

/** Windows of 12 seconds. */
const windows = 20;

const arm = (recipe: TrainingArm["recipe"]): Arm =>
  trainingArm({
    recipe,
    environment: () => jobs(),
    engine: () => tabularEngine({ context: "message", prior }),
    iterations: windows,
    settings: { tasks: 1, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.03, 0.1, 0.3, 1, 3].map((learningRate) => ({ learningRate })),
    follow: slow,
    more: async ({ policy }) => ({ final: await slow(policy) }),
  });

export default defineCheck({
  id: "rl4mle",
  level: "table",
  claim:
    "Under a deadline, weighting actions by their duration finds the slow, better program sooner than a running mean of returns does.",
  metric: "probability of the slow program, mean over 20 windows, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm(weighed("running", "every finished action alike, against a running mean", runningBaseline())),
  method: arm(rl4mle),
  others: {
    batch: arm(
      weighed(
        "batch",
        "every finished action alike, against the mean of its window",
        returnsToGo({ baseline: "batch" }),
      ),
    ),
    bare: arm(
      weighed("bare", "every finished action alike, bare returns", returnsToGo({ baseline: "none" })),
    ),
    both: arm(
      weighed("both", "weighted by duration, against a running mean", [
        runningBaseline(),
        durationWeighted(),
      ]),
    ),
  },
  simpler: ["baseline", "batch", "bare"],
  unequalCost:
    "The budget is time, 20 windows of 12 s for 8 actors: an arm that runs fast programs finishes more of them.",
  notes:
    "Two programs and one prompt. The deadline turns the direction of learning only where all returns count as good, as with an untrained critic: bare returns then end at the fast program. A mean of returns that lies between the two scores undoes that without any weight, which is why it is the opponent here; an earlier design, against bare returns over 60 windows, could not be lost. The running mean is empty in the first window, which costs it most at large steps; the mean of the window itself, added after this was seen, is not. Where every started job is waited for there is no bias.",
});
