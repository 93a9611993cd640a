import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { candidatesPerState } from "../../../rollout/candidatesPerState.ts";
import { bestOfState } from "./bestOfState.ts";

export const rise = method({
  id: "rise",
  family: "self-play",
  summary: "in every state that retries visit, imitates the best of several new attempts, by its reward",
  paper: "Recursive Introspection: Teaching Language Model Agents How to Self-Improve",
  mechanism:
    "A problem with retries is a decision process: the state is the problem with the earlier attempts and the feedback on them, the action is a new attempt. The policy plays it, so that the states are its own mistakes. In each state several new attempts are sampled, and the best of them is imitated, with more weight the better it is; the attempts before it are context and are not imitated. The first state is among them, so that single attempts do not get worse.",
  equation: [
    "s_i = (x, y_1, f_1, …, y_{i−1}, f_{i−1}),   y ~ π(· | s_i) visits s_{i+1}",
    "ỹ_i = argmax_n r(s_i, y^n),   y^1 … y^N ~ π(· | s_i)",
    "loss = −mean over states of exp(r(s_i, ỹ_i)/τ)/Z · ln π(ỹ_i | s_i)      Z: the mean weight",
  ].join("\n"),
  source:
    "rows, weights and τ from the paper's code; N there about 16, here the group size. Self-distillation only, no stronger model; weights are divided by their mean, and an iteration goes on from the last weights and not from the base model (both ours). The environment has to offer retries (`tryAgain`); majority votes over turns are left to the caller",
  options: { tau: { help: "τ, temperature of the weights", default: 0.4, low: 1e-3 } },
  slots: ({ groupSize, temperature }, { tau }) => ({
    rollout: candidatesPerState({ candidates: groupSize, temperature }),
    advantage: bestOfState({ tau }),
    objective: policyGradient(),
  }),
});
