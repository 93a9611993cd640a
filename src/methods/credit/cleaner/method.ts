import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { selfPurified } from "./selfPurified.ts";

export const cleaner = method({
  id: "cleaner",
  family: "credit",
  summary: "trajectories cleaned of failed calls: as if each corrected call had been made at once",
  paper: "CLEANER: Self-Purified Trajectories Boost Agentic Reinforcement Learning",
  mechanism:
    "A failed tool call that is corrected in the next attempt belongs to a successful trajectory, so that outcome rewards reinforce the failure as well. Here the model is shown the error and tries again as usual, but the trajectory is rewritten as if it had made the corrected call at once: the failed call and the error disappear. A corrected call that is much like the failed one keeps the failed action's reasoning; one that differs brings its own along, so that reasoning and call still belong together.",
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
