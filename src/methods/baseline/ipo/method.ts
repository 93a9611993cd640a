import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";

export const ipo = method({
  id: "ipo",
  family: "baseline",
  summary: "identity preference optimisation: log-ratios of pairs are pulled to a fixed margin",
  paper: "A General Theoretical Paradigm to Understand Learning from Human Preferences",
  mechanism:
    "Maximises the win rate itself, less τ times the divergence from the reference, and assumes no reward behind the votes. The margin of a pair is regressed on 1/(2τ), so a pair that one side always wins pulls no further once it is there, while DPO's margin grows without end and forgets the reference.",
  equation: [
    "h = ln π(w)/ref(w) − ln π(l)/ref(l)          w: preferred, l: other; sums over the tokens of a reply",
    "loss = mean over pairs of (h − 1/(2τ))²      τ = 0.1",
  ].join("\n"),
  source:
    "τ = 0.1 is ours, the customary default; the paper learns from a fixed set of pairs, here they are sampled",
  frozen: { reference: {} },
  slots: {
    feedback: comparisons(),
    advantage: preferencePairs(),
    objective: pairwise({ loss: "squared" }),
  },
});
