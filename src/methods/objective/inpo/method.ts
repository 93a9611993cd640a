import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";

/** Inverse step of the mirror descent, η. */
const eta = 1;
/** Weight of the KL regularisation towards the reference, τ < η. */
const tau = 0.1;

export const inpo = method({
  id: "inpo",
  family: "objective",
  summary: "no-regret self-play on pairs: each round regresses a margin on a constant",
  paper: "Iterative Nash Policy Optimization: Aligning LLMs with General Preferences via No-Regret Learning",
  mechanism:
    "The policy plays the preference game against itself by online mirror descent; its last iterate approaches the Nash policy of the game with regularisation towards the reference. An exact step needs the win rate of every reply. The same step also minimises a squared loss on pairs of the policy's own replies with single preferences, so no win rate has to be estimated. The margin is relative to a geometric mixture of the reference and the sampling policy.",
  equation: [
    "h = ln π(w)/π(l) − τ/η · ln ref(w)/ref(l) − (1 − τ/η) · ln π_t(w)/π_t(l)          π_t: sampled the pair",
    "loss = mean over pairs of (h − 1/(2η))²",
    "its minimum: π(y) ∝ exp(P(y ≻ π_t)/η) · ref(y)^(τ/η) · π_t(y)^(1 − τ/η)          η = 1, τ = 0.1",
  ].join("\n"),
  source:
    "η and τ for tables, ours (a public implementation has η = 0.0075 and τ = η/3 for language models); pairs are independent, where the paper takes the best and the worst of eight",
  defaults: { epochs: 8, minibatches: 1 }, // a round is a regression and needs several passes
  frozen: { reference: {} },
  learnsFrom: { kind: "pair" },
  slots: {
    feedback: comparisons(),
    advantage: preferencePairs(),
    objective: pairwise({
      loss: "squared",
      beta: eta,
      against: { reference: tau / eta, sampled: 1 - tau / eta },
    }),
  },
});
