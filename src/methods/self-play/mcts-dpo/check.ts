import { constant } from "../../../advantage/constant.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import type { Model } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { treeSearch } from "../../../rollout/treeSearch.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { ladders, qualityAfter, rightEdit } from "../../../worlds/ladders.ts";
import { mctsDpo } from "./method.ts";

const levels = 8;
const edits = 10;
const budget = 384;
const world = (seed: number) => ladders({ ladders: 4, levels, edits: 4, turns: edits, seed });

/** Expected quality after all edits of an episode, exact; mean over the ladders of training. */
const qualityOf = (policy: Model, seed: number): Promise<number> =>
  meanOver(world(seed).tasks("train"), async (task) => {
    const right: number[] = [];
    for (let level = 0; level < levels; level++) {
      const prompt = [{ role: "user" as const, content: `l${task.metadata.number} level ${level}` }];
      right.push((await replyProbabilities(policy, { ...task, prompt }, [rightEdit(task, level)]))[0]!);
    }
    return qualityAfter(right, edits).at(-1)!;
  });

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: world,
    engine: () =>
      tabularEngine({ context: "message", prior: (_context, word) => (/^e\d$/.test(word) ? 0 : -1e9) }),
    iterations: 1000,
    episodes: budget,
    settings: { ...plainAscent, tasks: 4, groupSize: 16 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => qualityOf(policy, seed),
    more: ({ curve }) => ({
      pairs: curve.reduce((sum, m) => sum + (m.pairs ?? 0), 0),
      iterations: curve.length,
    }),
  });

/** DPO on whole attempts: each against one that was worth less. */
const whole = (rollout: (s: Settings) => Rollout): Recipe =>
  method({
    id: "whole-attempts",
    family: "self-play",
    summary: "DPO on pairs of whole attempts",
    slots: (s) => ({
      rollout: rollout(s),
      advantage: [constant(), outcomePairs({ rivals: 1 })],
      objective: pairwise({ beta: 1, against: { sampled: 1 } }),
    }),
  });

/** The search of the method. */
const search = treeSearch({
  ...{ simulations: 6, width: 3, first: 4, firstWidth: 2, walk: true },
  rule: { kind: "puct", exploration: 0.1 },
});

export default defineCheck({
  id: "mcts-dpo",
  level: "shared",
  simpler: ["baseline", "whole attempts of the search"],
  claim:
    "At equal episodes, DPO on the steps of a tree search teaches more than DPO on pairs of whole attempts.",
  metric: `expected quality after ${edits} edits, exact, after ${budget} episodes`,
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  unequalCost: "equal episodes; the search samples fewer tokens, since what it replays is not sampled again",
  notes:
    "Tried on other seeds: a lock of 3^6 settings that pays only when it opens (in a table one success teaches a whole lock to either arm, so that luck in finding it decides: 0.50 for whole attempts, 0.42 for the steps), the same with 3^5 (both learn it), and six levels with 768 episodes (both learn it, whole attempts at smaller steps). Labels trusted by visits lose there: with as few simulations both sides are visited about equally, and a rare success may be visited less than the failure beside it. The paper expects its gain where right answers are rare in the tree, such as 12 leaves of 4,096, and pairs of whole answers are scarce; these ladders pay at every level. In them a whole attempt's return says something of each of its edits, as in exit.",
  baseline: arm(
    "DPO on independent whole attempts",
    whole(({ groupSize }) => multiTurn({ groupSize })),
  ),
  method: arm("DPO on the steps of a tree search", mctsDpo),
  others: {
    smoothing: arm("labels trusted by visits", {
      ...mctsDpo,
      build: (settings) => mctsDpo.build(settings, { smoothing: true }),
    }),
    "whole attempts of the search": arm(
      "DPO on whole attempts of the same search",
      whole(() => search),
    ),
  },
});
