import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { selfPurified } from "./selfPurified.ts";

export const cleaner = method({
  id: "cleaner",
  family: "credit",
  summary: "removes failed tool calls from trajectories, as if each corrected call had been made first",
  paper: "CLEANER: Self-Purified Trajectories Boost Agentic Reinforcement Learning",
  mechanism:
    "A failed tool call that is corrected in the next attempt is part of a successful trajectory, so outcome rewards reinforce the failure as well. Here the model sees the error and tries again as usual, but the trajectory is rewritten as if the corrected call had been made at once: the failed call and the error are removed. A corrected call that is similar to the failed one keeps the failed action's reasoning; a different one brings its own reasoning, so that reasoning and call stay consistent.",
  equation: [
    "ρ = 2 M / (|c| + |c'|)                      M: matching tokens of the failed call c and the corrected c'",
    "turn ← (p, c') if ρ ≥ γ, else (p', c')       γ = 0.5, at most 3 failures in a row",
    "old log-probabilities of the rewritten tokens: scored in the clean context",
  ].join("\n"),
  source:
    "γ, retries and rules from the paper's code, which compares characters; tokens are compared here (ours)",
  slots: (s) => ({
    rollout: selfPurified(multiTurn({ groupSize: s.groupSize, temperature: s.temperature })),
  }),
});
