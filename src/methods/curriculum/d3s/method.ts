import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { onColumn } from "../../../objective/onColumn.ts";
import { downSampled, keptColumn } from "./downSampled.ts";

export const d3s = method({
  id: "d3s",
  family: "curriculum",
  summary:
    "trains on the attempts of the largest variance and their weightiest tokens, at first few, then all",
  paper:
    "Learning More with Less: A Dynamic Dual-Level Down-Sampling Framework for Efficient Policy Optimization",
  mechanism:
    "Many attempts are made, and few are trained on. Of each group the subset whose advantages vary most is kept: some of the best and some of the worst. Of their tokens those with the largest product of advantage and entropy are kept. Both shares start small and rise to everything, so that training is fast early and does not overfit to extreme attempts later.",
  equation: [
    "S = argmax over |S| = n of Var{A[i], i in S}          in each group; A from the whole group",
    "M[i,t] = 1 for the share ρ with the largest |A[i]| · H[i,t], i in S",
    "loss = −Σ M min(r A, clip(r, 1 − ε, 1 + ε) A) / Σ M",
    "n = ⌈(n₀ + (1 − n₀) p) G⌉,  ρ = ρ₀ + (1 − ρ₀) p,  p = min(1, iteration / relaxOver)",
  ].join("\n"),
  source:
    "the two criteria and the schedule's direction from the paper; n₀ = 1/4, ρ₀ = 0.2, its linear shape and selection within each group are ours",
  options: {
    attempts: { help: "share of a group's attempts trained on at first", default: 0.25, low: 0.01, high: 1 },
    tokens: {
      help: "share of the kept attempts' tokens trained on at first",
      default: 0.2,
      low: 0.01,
      high: 1,
    },
    relaxOver: { help: "iterations until everything is trained on", default: 100, low: 1, whole: true },
  },
  slots: (s, options) => ({
    advantage: [groupNormalised(), downSampled(options)],
    objective: onColumn(clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), keptColumn),
  }),
});
