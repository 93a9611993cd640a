import { method } from "../../../method/method.ts";

/** The recipe of GRPO, the baseline that every other method states its difference from. */
export const grpo = method({
  id: "grpo",
  family: "baseline",
  summary: "group-relative policy optimisation: compares each attempt with the others at its task",
  paper: "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models",
  mechanism:
    "Several attempts at the same task are compared with each other: an attempt above its group's mean is made more likely, one below it less likely, in units of the group's standard deviation, and every token of the attempt gets the same advantage. No critic is needed. Clipped importance ratios allow several gradient steps per batch.",
  equation: [
    "A[i] = (R[i] − mean(R)) / max(std(R), floor)                      over the group of a task",
    "ρ[t] = π(t) / π_old(t)",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)    ε = 0.2",
  ].join("\n"),
  source:
    "ε from the paper; the mean over all tokens as in DAPO and TRL (the paper: over attempts of the mean over tokens) and a deviation with divisor G (TRL and verl: G − 1); a floor of 1e-4 on the deviation, groups without spread are counted as dead (ours); step size and batch for small agents trained from scratch (ours)",
  slots: {},
});
