import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";

export const cispo = method({
  id: "cispo",
  family: "baseline",
  summary: "clips importance weights instead of tokens: every token keeps its gradient (CISPO)",
  paper: "MiniMax-M1: Scaling Test-Time Compute Efficiently with Lightning Attention",
  mechanism:
    "Ratio clipping removes a token's gradient once its probability has moved, and the rare tokens that redirect the reasoning move first. CISPO clips the importance weight instead: the weight multiplies the log-likelihood and carries no gradient itself, so every token keeps contributing, with a weight of bounded variance.",
  equation: [
    "ρ[t] = π(t) / π_old(t)",
    "loss = −mean over tokens of sg(min(ρ, 1 + ε_high)) · A · ln π(t)        ε_high = 4, no lower bound",
  ].join("\n"),
  source:
    'no lower bound and the mean over all tokens from the paper, which does not state its upper bound; weights of up to 5 as in "The Art of Scaling Reinforcement Learning Compute for LLMs", which found 4 to 8 equivalent',
  defaults: { clipLow: 1, clipHigh: 4 },
  slots: (s) => ({ objective: policyGradient({ importance: { low: s.clipLow, high: s.clipHigh } }) }),
});
