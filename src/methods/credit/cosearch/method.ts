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
  summary: "an agent that searches and the ranker that serves it, trained from the same episodes",
  paper:
    "CoSearch: Joint Training of Reasoning and Document Ranking via Reinforcement Learning for Agentic Search",
  mechanism:
    "An agent can only read what a ranker puts in front of it, so a fixed ranker caps what it can learn. Both are policies of one rollout and learn from it at once. Every ranker call asks for something else, so calls are compared with those for about the same query of the same question, apart for those whose candidates hold the answer and those whose do not. A call is paid for the ranking itself, and for the agent's success where the ranking was perfect or could not matter.",
  equation: [
    "agent:  A = (F1 − mean) / std                      over the attempts at a question",
    "ranker: s = mean of Hit@k, −0.2 if malformed;  b = 1[F1 ≥ 0.8]",
    "        R = s + b  if s ≥ 0.8 (answer among the candidates) or s ≥ 0 (not among them), else s",
    "        A = (R − mean) / std                       over calls with ROUGE-1 of their queries ≥ 0.8",
  ].join("\n"),
  source:
    "thresholds, bonus and grouping from the paper's code; a call alone in its cluster gets 0, and there is no penalty towards references (ours)",
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
