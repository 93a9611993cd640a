import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";

export const openagiRltf = method({
  id: "openagi-rltf",
  family: "environments",
  summary: "learns chains of tools from their results, choosing only among tools that fit (RLTF)",
  paper: "OpenAGI: When LLM Meets Domain Experts",
  mechanism:
    "A task is solved by a chain of expert tools, written one by one; only tools that take what the last one gave can be written, so no chain is ill-typed. The chain is run on a few inputs, and the mean of the task's own metric is its reward: one action, many items. REINFORCE makes the chain likelier by how much better it did than that task's chains usually do.",
  equation: [
    "c ~ π(· | task), each tool among those that fit the type at hand",
    "R = mean over inputs of the metric in 0…1;  −1 for an ill-typed chain, where nothing holds it",
    "loss = −(R − b[task]) Σ ln π(c)            b[task]: moving average of that task's own rewards",
  ].join("\n"),
  source:
    "constraint, reward and REINFORCE from the paper and its code. The code weighs each chain by the mean reward of the epoch so far; here it is the chain's own reward less its task's average. The code takes the likeliest of 30 candidates or draws by their log-probabilities; here chains are drawn from the policy itself, which keeps the gradient unbiased",
  defaults: { groupSize: 1, minibatches: 1 },
  slots: ({ groupSize, temperature }) => ({
    rollout: multiTurn({ groupSize, temperature, constrained: true }),
    advantage: runningBaseline({ per: "group" }),
    objective: policyGradient(),
  }),
});
