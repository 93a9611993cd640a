import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { selfPlay } from "../../../rollout/selfPlay.ts";
import { roleConditioned } from "./roleConditioned.ts";

export const spiralRae = method({
  id: "spiral-rae",
  family: "self-play",
  summary: "self-play in zero-sum games, with a moving baseline for each game and role",
  paper:
    "SPIRAL: Self-Play on Zero-Sum Games Incentivizes Reasoning via Multi-Agent Multi-Turn Reinforcement Learning",
  mechanism:
    "One policy plays both sides of a zero-sum game, and only the outcome pays. The two sides expect different returns, and in a zero-sum game their common mean is 0, so a common baseline removes nothing. A moving average of returns is kept for each game and role. A return is compared with the average of the games before it, which centres the gradient of each role and leaves it unbiased.",
  equation: [
    "A = R − b[game, role],   then   b ← α b + (1 − α) R          α = 0.95, b = 0 at first",
    "A[turn j of n] = γ^(n − 1 − j) · A                            γ = 1, on every token of the turn",
    "loss = −1/(rows · L) Σ over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)",
  ].join("\n"),
  source:
    "α, γ, two passes, the order of reading and moving the baseline and the dropped zeros from the paper's code; the constant L = 32 is ours. A reply that is no move costs the game's own forfeit, where the paper pays −1.5 and 0.5. One moving average per run, where the paper has one per actor process; replies that fill their limit are kept, since a move may",
  defaults: { epochs: 2, minibatches: 1 },
  options: {
    keep: { help: "α, share of the old baseline that a game keeps", default: 0.95, low: 0, high: 1 },
    discount: { help: "γ, discount per turn of the role", default: 1, low: 0, high: 1 },
  },
  slots: ({ groupSize, temperature, clipLow, clipHigh }, { keep, discount }) => ({
    rollout: selfPlay({ groupSize, temperature }),
    advantage: roleConditioned({ keep, discount }),
    objective: clippedRatio({ clip: { low: clipLow, high: clipHigh }, normaliser: { constant: 32 } }),
  }),
});
