import { method } from "../../../method/method.ts";
import { hindsightRatings } from "./hindsightRatings.ts";

export const rlhs = method({
  id: "rlhs",
  family: "user-feedback",
  summary: "asks for ratings after what came of the advice was seen, not when it was given",
  paper: "RLHS: Mitigating Misalignment in RLHF with Hindsight Simulation",
  mechanism:
    "Right after a conversation satisfaction is made of what was promised, and the promises are the policy's own to make. So the world is played on first: the user acts on the advice, and what comes of it is observed or simulated, from facts or from a model that has learnt them, never from what was said. Only then is the rating asked for. Partial hindsight shows what came of the option taken, full hindsight also what the others would have brought.",
  equation: [
    "immediate: r = E[utility | x, y]                       beliefs that y itself can shift",
    "hindsight: r = Σ_{t < N} γ^t u[t](taken)              u: what the option brings, step by step; γ = 1, N: all",
    "full:      r − max over the other options of the same sum",
    "|r − U| ≤ γ^N u_max / (1 − γ)                         in the true world, for γ < 1",
  ].join("\n"),
  source:
    "partial and full hindsight from the authors' repository; the formulas are ours; the default world is the environment's own verdict on a finished episode, others are an option of the piece",
  slots: { feedback: hindsightRatings() },
});
