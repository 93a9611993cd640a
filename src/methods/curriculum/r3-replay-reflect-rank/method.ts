import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { withReplay } from "../../../rollout/withReplay.ts";
import { entropyRanks } from "./entropyRanks.ts";
import { missingOutcome } from "./missingOutcome.ts";
import { mixedNormalised } from "./mixedNormalised.ts";
import { reflecting, reflection } from "./reflecting.ts";

export const r3ReplayReflectRank = method({
  id: "r3-replay-reflect-rank",
  family: "curriculum",
  summary: "repairs groups of equal rewards: stored attempts of the missing outcome, reflection, ranks",
  paper: "R^3: Replay, Reflection, and Ranking Rewards for LLM Reinforcement Learning",
  mechanism:
    "Groups whose rewards are all equal teach nothing, and three things repair them. Stored attempts at the same task with the missing outcome join the group, compared by ratios to the policy that sampled them. Tasks with low past success are asked a second time, with one of their wrong attempts and an instruction to reflect, in a group of their own. Truncated attempts of groups that fail altogether get small rewards by rank: those come first whose entropy is high at few tokens and low on the whole.",
  equation: [
    "all R = 0: add k stored y with R = 1;  all R = 1: add k stored y with R = 0",
    'mean past R of x < τ: one more group, y ~ π(· | x, old wrong attempt, "reflect")',
    "i dominates j iff peak H[i] > peak H[j] and mean H[i] < mean H[j];  R[i] = R_max (1 − rank[i] / (N − 1)) by the number dominated",
    "A[i] = (R[i] − mean R) / (α std R + λ)        over the mixed group",
  ].join("\n"),
  source:
    "formulas from the paper; k = 1, τ = 0.25, R_max = 0.2, the peak's share 0.2, α = 1, λ = 1e-4 and the bound of 3 on advantages are ours, and so are the words of the reflection; no KL",
  says: [reflection],
  options: {
    stored: { help: "attempts of each outcome that a task keeps", default: 16, low: 1, whole: true },
    joining: { help: "k, stored attempts that join a group", default: 1, low: 0, whole: true },
    reflectBelow: {
      help: "τ, mean past success below which a task is reflected on",
      default: 0.25,
      low: 0,
      high: 1,
    },
    alpha: { help: "α, factor of the deviation", default: 1, low: 0.01 },
  },
  slots: ({ groupSize, temperature }, { stored, joining, reflectBelow, alpha }) => ({
    rollout: withReplay(
      reflecting(multiTurn({ groupSize, temperature }), { groupSize, temperature, below: reflectBelow }),
      { keeps: () => true, joins: missingOutcome(joining), capacity: stored },
    ),
    feedback: [outcome(), entropyRanks()],
    advantage: mixedNormalised({ alpha }),
  }),
});
