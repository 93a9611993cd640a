import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";

export const ipo = method({
  id: "ipo",
  family: "baseline",
  summary: "identity preference optimisation: regresses the log-ratio margin of each pair on a constant",
  paper: "A General Theoretical Paradigm to Understand Learning from Human Preferences",
  mechanism:
    "Maximises the win rate itself, minus τ times the KL divergence from the reference, and assumes no reward model behind the preferences. The margin of a pair is regressed on 1/(2τ), so a pair with a deterministic preference has no gradient once the margin is reached, while DPO's margin grows without bound and the reference loses its effect.",
  equation: [
    "h = ln π(w)/ref(w) − ln π(l)/ref(l)          w: preferred, l: other; sums over the tokens of a reply",
    "loss = mean over pairs of (h − 1/(2τ))²      τ = 0.1",
  ].join("\n"),
  source:
    "τ = 0.1 is ours, the customary default; the paper learns from a fixed set of pairs, here pairs are sampled from the policy; sums over tokens as in the paper (TRL takes means)",
  frozen: { reference: {} },
  learnsFrom: { kind: "pair" },
  slots: {
    feedback: comparisons(),
    advantage: preferencePairs(),
    objective: pairwise({ loss: "squared" }),
  },
});
