import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import { codeOf, codewords } from "../../../env/codewords.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import type { Recipe } from "../../../method/method.ts";
import { settingsOf } from "../../../method/settings.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { agentRlvr, guided } from "./method.ts";

const environment = (seed: number) =>
  codewords({ seed, questions: 8, length: 5, vocabulary: 4, pay: "whole", remedies: 3 });

/** Guidance names the right word of up to three wrong positions, which raises each of them by 4 nats. */
const reading: Reading = {
  isRead: (message) => message.startsWith("wrong"),
  shift: (told, reply, word) =>
    told.some((message) => ` ${message} `.includes(` step ${reply.length + 1} : ${word} `)) ? 4 : 0,
};

const arm = (what: string, recipe: Recipe, groupSize: number, rates: readonly number[]) =>
  trainingArm({
    what,
    recipe,
    environment,
    engine: () =>
      tabularEngine({
        context: "message",
        reading,
        prior: (_, word) => (/^w\d$/.test(word) ? 0 : -1e9),
      }),
    iterations: 12,
    settings: { ...plainAscent, tasks: 8, groupSize },
    grid: rates.map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) =>
      meanOver(
        environment(seed).tasks("train"),
        async (task) => (await replyProbabilities(policy, task, [codeOf(task).join(" ")]))[0]!,
      ),
  });

/** The same pairs in the context that the retries were sampled in. */
const kept: Recipe = {
  ...agentRlvr,
  build: (settings) => {
    const built = agentRlvr.build(settings);
    const { rollout } = guided(
      scriptedCritiquer({ detail: "answer" }),
      "kept",
    )(settingsOf({ ...agentRlvr.defaults, ...settings }));
    return { ...built, slots: { ...built.slots, ...(rollout && { rollout }) } };
  },
};

/** Imitates the same successes without pairs. */
const imitated: Recipe = {
  ...agentRlvr,
  build: (settings) => {
    const built = agentRlvr.build(settings);
    return {
      ...built,
      slots: { ...built.slots, advantage: [rejectionSampled()], objective: [likelihood()] },
    };
  },
};

export default defineCheck({
  id: "agent-rlvr",
  level: "shared",
  simpler: ["imitated", "kept"],
  claim:
    "Guidance on failed attempts, learnt from as if it had not been given, solves codes unaided that are hardly ever hit upon.",
  metric: "probability of the whole code, unaided, after practice",
  direction: "higher",
  smallestEffect: 0.05,
  tuningSeeds: 1,
  unequalCost:
    "GRPO makes 16 unaided attempts at each task, the others 8, and one more for each that fails: fewer as they learn",
  notes:
    "Unaided a code is hit with a probability of 1 in 1024, guided of about 1 in 20. That pairs beat imitating the successes does not show here, on trial seeds either: a code has one right form, so there is nothing for failures to say, and what they push away at large steps does not always come back (0.88 once, where imitation reached 1).",
  baseline: arm("GRPO, unaided", grpo, 16, [100, 1000, 1e4, 1e5, 1e6]),
  method: arm("guided pairs, guidance stripped", agentRlvr, 8, [1000, 1e4, 1e5, 1e6, 1e7]),
  others: {
    kept: arm("guided pairs, guidance kept", kept, 8, [100, 300, 1000, 3000, 1e4]),
    imitated: arm("guided successes imitated", imitated, 8, [10, 100, 1000, 1e4, 1e5]),
  },
});
