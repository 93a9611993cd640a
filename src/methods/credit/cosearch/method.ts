import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { clusterNormalised } from "./clusterNormalised.ts";
import { outcomeBonus } from "./outcomeBonus.ts";

const rankings = ["ranking", "ranking.unavailable"];

export const cosearch = method({
  id: "cosearch",
  family: "credit",
  summary: "trains a search agent and its document ranker from the same episodes",
  paper:
    "CoSearch: Joint Training of Reasoning and Document Ranking via Reinforcement Learning for Agentic Search",
  mechanism:
    "An agent reads only the documents that the ranker returns, so a fixed ranker limits what it can learn. Both are policies in one rollout and are trained on it together. Ranker calls have different queries, so each call is compared with calls for a similar query of the same question, separately for calls whose candidates contain the answer and calls whose candidates do not. A call is rewarded for the ranking itself, and for the agent's success where the ranking was perfect or could not matter.",
  equation: [
    "agent:  A = (F1 − mean) / std                      over the attempts at a question",
    "ranker: s = mean of Hit@k, −0.2 if malformed;  b = 1[F1 ≥ 0.8]",
    "        R = s + b  if s ≥ 0.8 (answer among the candidates) or s ≥ 0 (not among them), else s",
    "        A = (R − mean) / std                       over calls with ROUGE-1 of their queries ≥ 0.8",
  ].join("\n"),
  source:
    "thresholds, bonus and grouping from the paper's code; a call alone in its cluster gets 0, and there is no KL penalty towards references (ours)",
  models: { ranker: { from: "fresh" } },
  slots: ({ groupSize, temperature }) => ({
    rollout: multiTurn({ groupSize, temperature, models: { ranker: "ranker" } }),
    feedback: [
      outcome({ rewards: ["outcome"] }),
      turnRewards({ rewards: rankings, channel: { perName: true } }),
    ],
    credit: outcomeBonus(),
    advantage: [groupNormalised({ channels: ["outcome"] }), clusterNormalised({ channels: rankings })],
  }),
});
