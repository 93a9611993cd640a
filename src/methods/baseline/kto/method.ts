import { method } from "../../../method/method.ts";
import { prospectValue } from "./prospectValue.ts";

export const kto = method({
  id: "kto",
  family: "baseline",
  summary:
    "prospect-theoretic optimisation: labels single attempts as good or bad; gains and losses saturate",
  paper: "KTO: Model Alignment as Prospect Theoretic Optimization",
  mechanism:
    "Needs no pairs: each attempt is desirable or not, here better or worse than its group's mean. Its log-ratio to the reference, relative to the policy's mean log-ratio, is a gain or a loss, and its value saturates in both directions, as human utility does in prospect theory. Attempts that are already far on the right side, or very far on the wrong one, have almost no gradient.",
  equation: [
    "r = ln π(y)/ref(y)        z₀ = max(0, mean r of the batch), without gradient",
    "loss = mean of λ_D · (1 − σ(β (r − z₀))) for desirable y, λ_U · (1 − σ(β (z₀ − r))) for undesirable y",
    "β = 0.1, λ_D = λ_U = 1",
  ].join("\n"),
  source:
    "β and λ from the paper; desirable means above the group's mean, and z₀ comes from the policy's own samples (both ours)",
  frozen: { reference: {} },
  learnsFrom: { kind: "rating" },
  slots: { objective: prospectValue() },
});
