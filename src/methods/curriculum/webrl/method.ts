import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { grpoSlots } from "../../../method/baseline.ts";
import { method } from "../../../method/method.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { fromFailures } from "./fromFailures.ts";
import { mixedAdvantage, previous, refreshedEvery, squaredLogRatio } from "./phasePolicy.ts";
import { withSuccesses } from "./withSuccesses.ts";

export const webrl = method({
  id: "webrl",
  family: "curriculum",
  summary: "phases on tasks like the failed ones, with replayed successes and a loss tied to the last phase",
  paper: "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning",
  mechanism:
    "Training runs in phases. The tasks of a phase resemble those that failed in the last one, and a critic keeps only those that it calls neither hopeless nor solved. Successes are stored and replayed where the present policy finds them neither certain nor alien. The loss is the squared difference between the log-ratio to the last phase's policy and the advantage, so that old data can be used and each step limits itself.",
  equation: [
    "A[t] = λ (r[t] + V(s[t+1]) − V(s[t])) + (1 − λ) (r[T] − V(s[t]))",
    "loss = mean over actions of (β ln π(a|s)/π_last(a|s) − A)²        log-probabilities summed over an action's tokens",
    "tasks: 0.05 ≤ V(s_0) ≤ 0.75;   replay: mean probability of a token in (0.5, 0.95]",
  ].join("\n"),
  source:
    "loss, advantage, filters and the share of replay from the paper and its code. New tasks are chosen from the training tasks, by words they share with failed ones, in place of being written; the environment's verdict stands for the reward model; one critic head with squared error in place of two with cross-entropy. The code's clipped and masked advantages are left out",
  models: { critic: { from: "fresh", heads: ["value"] } },
  frozen: { [previous]: {} },
  needs: ["heads"],
  defaults: { minibatches: 1, schedule: "constant" },
  options: {
    beta: { help: "β, weight of the log-ratio", default: 1, low: 0, high: 1000 },
    mix: { help: "λ, share of the one-step advantage", default: 0.5, low: 0, high: 1 },
    phase: { help: "iterations of a phase", default: 10, low: 1, whole: true },
    pool: { help: "tasks of a phase", default: 32, low: 1, whole: true },
    replayed: {
      help: "most replayed successes for each new attempt; 0 for none",
      default: 2,
      low: 0,
      high: 100,
    },
    chosen: { help: "whether phases choose their tasks, or take all", default: true },
  },
  slots: (s, { beta, mix, phase, pool, replayed, chosen }) => ({
    ...(chosen ? { data: fromFailures({ tasks: s.tasks, phase, pool }) } : {}),
    rollout: withSuccesses(multiTurn({ groupSize: s.groupSize, temperature: s.temperature }), {
      most: replayed,
    }),
    annotate: values(),
    feedback: turnRewards({ unpaid: "zero" }),
    credit: perTurn(),
    advantage: mixedAdvantage(mix),
    objective: [squaredLogRatio(beta), valueRegression()],
    update: refreshedEvery(grpoSlots(s).update, phase),
  }),
});
