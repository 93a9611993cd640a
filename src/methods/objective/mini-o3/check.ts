import { pairRows } from "../../../common/tokens/pack.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { miniO3 } from "./method.ts";
import { largestLead, leaderAfter, leadWord, votes } from "./votes.ts";

const cap = { practice: 6, later: 24 } as const;

const prior: Prior = (_, word) => (word === "ask" ? 1 : word === "answer" ? -1 : -1e9);

/** Exact success at a turn cap on held-out questions, and the share of finished episodes. */
async function atCap({ policy }: TrainedInMemory, seed: number, turns: number) {
  const prompts = Array.from({ length: largestLead + 1 }, (_, lead) =>
    policy.codec.open([{ role: "user", content: leadWord(lead) }]),
  );
  const target = policy.codec.encode("answer");
  const { logp } = await policy.score(pairRows(prompts.map((prompt) => ({ prompt, target }))));
  const tasks = votes({ seed, questions: 400 }).tasks("test");
  let [success, finished] = [0, 0];
  for (const task of tasks) {
    let still = 1;
    for (let turn = 0; turn < turns; turn++) {
      const { right, lead } = leaderAfter(task, turn + 1);
      const ends = still * Math.exp(logp[lead]!);
      finished += ends / tasks.length;
      if (right) success += ends / tasks.length;
      still -= ends;
    }
  }
  return { success, finished };
}

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment: (seed) => votes({ turns: cap.practice, evidence: "episode", seed }),
    engine: () => tabularEngine({ context: "message", prior }),
    iterations: 60,
    settings: {
      ...plainAscent,
      tasks: 8,
      groupSize: 8,
    },
    grid: [0.1, 0.3, 1, 3, 10, 30].map((learningRate) => ({ learningRate })),
    metric: async (done, seed) => (await atCap(done, seed, cap.later)).success,
    more: async (done, seed) => {
      const early = await atCap(done, seed, cap.practice);
      return { "success at 6": early.success, "finished at 6": early.finished };
    },
  });

export default defineCheck({
  id: "mini-o3",
  level: "table",
  claim:
    "Masking attempts that ran out of turns lets success grow with the cap after practice under a small one.",
  metric: "success on unseen questions at four times the turns of practice, exact",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  tuningSeeds: 3,
  notes:
    "GRPO's best step size is the smallest one: under the small cap every step of it teaches haste, so the policy as it began is its best for later. With votes that all attempts at a task share, instead of their own, the mask gained 0.03 alone on other seeds: where a task is right from the first vote on, all finished attempts succeed and the cut ones make answering at once look good.",
  baseline: arm(grpo),
  method: arm(miniO3),
});
