import { constant } from "../../../advantage/constant.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import type { Model } from "../../../core/model.ts";
import { meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { treeSearch } from "../../../rollout/treeSearch.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { lock, settingsOf } from "../../../worlds/lock.ts";
import { mctsDpo } from "./method.ts";

const wheels = 5;
const budget = 4 * 480;
const world = (seed: number) => lock({ locks: 4, wheels, settings: 3, seed });

/** Probability that the policy opens a lock, exact: the product over its wheels; mean over the locks of training. */
const opens = (policy: Model, seed: number): Promise<number> =>
  meanOver(world(seed).tasks("train"), async ({ metadata, ...task }) => {
    const prompts = settingsOf({ metadata, ...task }).map((setting, wheel) => ({
      prompt: policy.codec.open([{ role: "user", content: `lock ${metadata.number} wheel ${wheel}` }]),
      target: policy.codec.encode(setting),
    }));
    const { logp } = await policy.score(pairRows(prompts));
    return Math.exp(logp.reduce((a, b) => a + b, 0));
  });

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: world,
    engine: () =>
      tabularEngine({ context: "message", prior: (_context, word) => (/^s\d$/.test(word) ? 0 : -1e9) }),
    iterations: 1000,
    episodes: budget,
    settings: { ...plainAscent, tasks: 4, groupSize: 48 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => opens(policy, seed),
    more: ({ curve }) => ({
      pairs: curve.reduce((sum, m) => sum + (m.pairs ?? 0), 0),
      "success, last": curve.at(-1)?.success ?? 0,
    }),
  });

/** DPO on whole attempts: each that opened the lock against one that did not. */
const whole = (rollout: Parameters<typeof method>[0]["slots"]) =>
  method({
    id: "whole-attempts",
    family: "self-play",
    summary: "DPO on pairs of whole attempts",
    slots: (s) => ({
      ...(typeof rollout === "function" ? rollout(s, {}) : rollout),
      feedback: outcome(),
      advantage: [constant(), outcomePairs({ rivals: 1 })],
      objective: pairwise({ beta: 1, against: { sampled: 1 } }),
    }),
  });

export default defineCheck({
  id: "mcts-dpo",
  level: "shared",
  simpler: ["baseline", "whole attempts of the search"],
  claim:
    "At equal episodes, DPO on the steps of a tree search teaches more than DPO on pairs of whole attempts.",
  metric: `probability that a lock of ${wheels} wheels opens, exact, after ${budget} episodes`,
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  unequalCost: "equal episodes; the search samples fewer tokens, since what it replays is not sampled again",
  baseline: arm(
    "DPO on independent whole attempts",
    whole(({ groupSize }) => ({ rollout: multiTurn({ groupSize }) })),
  ),
  method: arm("DPO on the steps of a tree search", mctsDpo),
  others: {
    "whole attempts of the search": arm(
      "DPO on whole attempts of the same search",
      whole(() => ({
        rollout: treeSearch({
          ...{ simulations: 8, width: 4, first: 4, firstWidth: 2, walk: true },
          rule: { kind: "puct", exploration: 1 },
        }),
      })),
    ),
  },
});
