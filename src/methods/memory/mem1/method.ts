import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";

export const mem1 = method({
  id: "mem1",
  family: "memory",
  summary: "each turn rewrites one compact state and acts; older turns are removed from the context",
  paper: "MEM1: Learning to Synergize Memory and Reasoning for Efficient Long-Horizon Agents",
  mechanism:
    "Every turn the policy first writes a short state and then acts; the next turn sees the task, that state, the action and its observation, and nothing older, so the context length stays constant however long the task is. There is no supervision on what to keep: lost information costs reward at the end. State tokens are actions like others, each trained under the context in which it was sampled, with the advantage of the whole episode.",
  equation: [
    "c[t + 1] = (prompt, state[t], action[t], observation[t], turns left)        (state[t], action[t]) ~ π(· | c[t])",
    "A[i] = (R[i] − mean R) / std R                                             over the group of a task",
    "loss = −1/G Σ_i 1/(Σ_t |y[i, t]|) Σ_t Σ_u min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)    y[i, t]: state and action of turn t",
  ].join("\n"),
  source:
    "state, pruning, the note on turns left and the reward at the end from the paper and its code; which turns are kept beside the state follows its code where it is clear. One row per turn in place of its two-dimensional mask, which is equivalent, and groups in place of PPO's critic (ours). The environment manages the context: `constantMemory` wraps any environment",
  slots: (s) => ({
    objective: clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh }, normaliser: "trajectories" }),
  }),
});
