import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";

export const cispo = method({
  id: "cispo",
  family: "baseline",
  summary: "clipped importance weights, no clipped tokens: every token keeps teaching (CISPO)",
  paper: "MiniMax-M1: Scaling Test-Time Compute Efficiently with Lightning Attention",
  mechanism:
    "A clipped ratio silences a token once its probability has moved, and rare tokens that turn a line of thought move first. Here the importance weight is what is clipped: it multiplies the log-likelihood without carrying a gradient, so that every token goes on teaching with a weight of bounded variance.",
  equation: [
    "ρ[t] = π(t) / π_old(t)",
    "loss = −mean over tokens of sg(min(ρ, 1 + ε_high)) · A · ln π(t)        ε_high = 4, no lower bound",
  ].join("\n"),
  source:
    'no lower bound and the mean over all tokens from the paper, which keeps its upper bound to itself; weights of up to 5 as in "The Art of Scaling Reinforcement Learning Compute for LLMs", which found 4 to 8 alike',
  defaults: { clipLow: 1, clipHigh: 4 },
  slots: (s) => ({ objective: policyGradient({ importance: { low: s.clipLow, high: s.clipHigh } }) }),
});
