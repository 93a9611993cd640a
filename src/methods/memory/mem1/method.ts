import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";

export const mem1 = method({
  id: "mem1",
  family: "memory",
  summary: "each turn rewrites one compact state and acts; all that is older is gone from the context",
  paper: "MEM1: Learning to Synergize Memory and Reasoning for Efficient Long-Horizon Agents",
  mechanism:
    "Every turn the policy first writes a short state and then acts; the next turn sees the task, that state, the action and what it led to, and nothing older, so that the context stays as long however long the task is. Nobody says what to keep: what was lost costs reward at the end. The words of the state are actions like others, each trained under the context that it was really written in, with the advantage of the whole episode.",
  equation: [
    "c[t + 1] = (prompt, state[t], action[t], observation[t], turns left)        (state[t], action[t]) ~ π(· | c[t])",
    "A[i] = (R[i] − mean R) / std R                                             over the group of a task",
    "loss = −1/G Σ_i 1/(Σ_t |y[i, t]|) Σ_t Σ_u min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)    y[i, t]: state and action of turn t",
  ].join("\n"),
  source:
    "state, pruning, the note on turns left and the reward at the end from the paper and its code; which turns are kept beside the state as far as its code shows. One row for each turn in place of its two-dimensional mask, which comes to the same, and groups in place of PPO's critic (ours). The context is the environment's affair: `constantMemory` wraps any",
  slots: (s) => ({
    objective: clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh }, normaliser: "trajectories" }),
  }),
});
