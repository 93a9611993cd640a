import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { averageOf, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { type JudgedSearchOptions, judgedSearch } from "./judgedSearch.ts";
import { judgement } from "./judgement.ts";
import { reseek } from "./method.ts";

const isAction = (context: readonly string[], word: string): boolean =>
  context.includes("found") ? /^(yes|no)$/.test(word) : /^(s\d+|answer)$/.test(word);

const arm = (
  what: string,
  recipe: TrainingArm["recipe"],
  judgements: NonNullable<JudgedSearchOptions["judgements"]>,
) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => judgedSearch({ seed, judgements }),
    engine: () =>
      tabularEngine({ context: "message", prior: (context, word) => (isAction(context, word) ? 0 : -1e9) }),
    iterations: 80,
    settings: { tasks: 4, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.1, 0.3, 1, 3].map((learningRate) => ({ learningRate })),
    more: ({ curve }: TrainedInMemory) => ({
      "success, last 20": averageOf(curve.slice(-20), "success"),
      turns: averageOf(curve.slice(-20), "turns"),
    }),
  });

const variant = (id: string, slots: Parameters<typeof method>[0]["slots"]) =>
  method({ id, family: "credit", summary: id, slots });
const bySense = variant("yes is paid only for what is useful", {
  feedback: [outcome({ rewards: ["outcome"] }), judgement({ yes: "usefulness" })],
});
const silent = variant("judgements are not paid", { feedback: outcome({ rewards: ["outcome"] }) });

export default defineCheck({
  id: "reseek",
  level: "table",
  simpler: ["silent"],
  claim:
    "An agent that judges what it finds, is paid for its judgements and forgets what it refuses answers better than one that keeps all.",
  metric: "mean success over 80 updates",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm("GRPO, everything found is kept", grpo, "none"),
  method: arm(reseek.summary, reseek, "drops"),
  others: {
    bySense: arm(bySense.summary, bySense, "drops"),
    silent: arm(silent.summary, silent, "drops"),
  },
  notes:
    "The gain here is that of forgetting: without any pay for judgements, or with a yes paid by usefulness alone, success was higher still. The paper's table pays every yes in an episode that ends well, and dividing by the group's deviation blows that up wherever all answers come to the same. Added after the first evidence; nothing else was changed.",
});
