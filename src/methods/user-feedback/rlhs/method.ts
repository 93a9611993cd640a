import { method } from "../../../method/method.ts";
import { hindsightRatings } from "./hindsightRatings.ts";

export const rlhs = method({
  id: "rlhs",
  family: "user-feedback",
  summary: "asks for ratings after the consequences of the advice are seen, not when it is given",
  paper: "RLHS: Mitigating Misalignment in RLHF with Hindsight Simulation",
  mechanism:
    "Right after a conversation, satisfaction depends on promises, which the policy itself can make. So the consequences are simulated first: the user acts on the advice, and the outcome is observed or simulated, from facts or from a model trained on them, never from the conversation's claims. Only then is the rating requested. Partial hindsight shows the outcome of the chosen option, full hindsight also the outcomes of the others.",
  equation: [
    "immediate: r = E[utility | x, y]                       beliefs that y itself can shift",
    "hindsight: r = Σ_{t < N} γ^t u[t](taken)              u: the option's utility per step; γ = 1, N: all",
    "full:      r − max over the other options of the same sum",
    "|r − U| ≤ γ^N u_max / (1 − γ)                         in the true world, for γ < 1",
  ].join("\n"),
  source:
    "partial and full hindsight from the authors' repository; the formulas are ours; the default outcome simulator is the environment's reward of a finished episode; others are an option of the piece",
  slots: { feedback: hindsightRatings() },
});
