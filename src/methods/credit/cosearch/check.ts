import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { cosearch } from "./method.ts";
import { rankedSearch } from "./rankedSearch.ts";

/** Allowed words: one for the agent, two different ones for the ranker, each followed by the end token. */
const engine = () =>
  tabularEngine({
    context: "message",
    prior: (context, word) => {
      const reply = context.slice(context.indexOf("<assistant>") + 1);
      const ranks = context[0] === "<tool>";
      if (reply.length === (ranks ? 2 : 1)) return word === "<end>" ? 0 : -1e9;
      if (ranks) return /^c\d$/.test(word) && !reply.includes(word) ? 0 : -1e9;
      return (context.includes("read") ? /^answer$/ : /^p\d$/).test(word) ? 0 : -1e9;
    },
  });

/** The ranker acts but is not trained. */
const agentOnly = method({
  id: "grpo-agent",
  family: "baseline",
  summary: "GRPO on the agent, with the ranker as it is",
  models: { ranker: { from: "fresh" } },
  slots: ({ groupSize, temperature }) => ({
    rollout: multiTurn({ groupSize, temperature, roles: ["agent"], models: { ranker: "ranker" } }),
    feedback: outcome({ rewards: ["outcome"] }),
  }),
});

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment: (seed) => rankedSearch({ questions: 6, reading: 0.95, seed }),
    engine,
    iterations: 80,
    settings: {
      ...plainAscent,
      tasks: 6,
      groupSize: 8,
    },
    grid: [100, 300, 1000, 3000].map((learningRate) => ({ learningRate })),
    more: ({ curve }) => ({ final: curve.slice(-10).reduce((sum, m) => sum + m.success! / 10, 0) }),
  });

export default defineCheck({
  id: "cosearch",
  level: "table",
  claim: "Training the ranker together with the agent leads further than training the agent alone.",
  metric: "mean success over 80 updates",
  direction: "higher",
  smallestEffect: 0.02,
  baseline: arm(agentOnly),
  method: arm(cosearch),
  tuningSeeds: 2,
});
