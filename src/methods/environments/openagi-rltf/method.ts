import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";

export const openagiRltf = method({
  id: "openagi-rltf",
  family: "environments",
  summary: "learns chains of tools from their results, restricted to tools of matching types (RLTF)",
  paper: "OpenAGI: When LLM Meets Domain Experts",
  mechanism:
    "A task is solved by a chain of expert tools, generated one by one; decoding only allows tools that accept the previous tool's output type, so no chain is ill-typed. The chain is run on a few inputs, and the mean of the task's own metric is its reward. REINFORCE makes the chain more likely in proportion to how far its reward exceeds the task's running average.",
  equation: [
    "c ~ π(· | task), each tool among those that accept the current type",
    "R = mean over inputs of the metric in 0…1;  −1 for an ill-typed chain (only without constrained decoding)",
    "loss = −(R − b[task]) Σ ln π(c)            b[task]: moving average of that task's own rewards",
  ].join("\n"),
  source:
    "constraint, reward and REINFORCE from the paper and its code. The code weighs each chain by the mean reward of the epoch so far; here by the chain's own reward minus its task's average. The code takes the likeliest of 30 candidates or draws by their log-probabilities; here chains are drawn from the policy itself, which keeps the gradient unbiased",
  defaults: { groupSize: 1, minibatches: 1 },
  slots: ({ groupSize, temperature }) => ({
    rollout: multiTurn({ groupSize, temperature, constrained: true }),
    advantage: runningBaseline({ per: "group" }),
    objective: policyGradient(),
  }),
});
