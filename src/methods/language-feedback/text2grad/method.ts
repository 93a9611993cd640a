import { whitened } from "../../../advantage/whitened.ts";
import type { Able } from "../../../core/evaluator.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { critiques } from "./critiques.ts";
import { markedSpans } from "./markedSpans.ts";
import { tokenReturns } from "./tokenReturns.ts";

/** Learns only from the spans that a critiquer quotes. @param discount γ of the return from a token on. */
export const spanRewards = (critiquer: Able<"critique">, discount = 0): SlotChoices => ({
  feedback: critiques({ critiquer }),
  credit: markedSpans(),
  advantage: [tokenReturns({ discount }), whitened()],
});

export const text2grad = method({
  id: "text2grad",
  family: "language-feedback",
  summary: "a critiquer quotes good and poor spans; exactly their tokens get reward +1 or −1",
  paper: "Text2Grad: Reinforcement Learning from Natural Language Feedback",
  mechanism:
    "A critique comes with literal quotes of the answer, good ones and poor ones. Each quote is located in the answer, exactly or approximately, and its tokens get +1 or −1; all others get 0, and there is no reward for the answer as a whole. Only located spans are updated, so the right parts of a long answer are not penalised for its wrong ones. An answer whose critique cannot be parsed is dropped.",
  equation: [
    "δ[t] = +1 in a good span, −1 in a poor one, 0 elsewhere",
    "A[t] = Σ_{l ≥ 0} γ^l δ[t + l],  whitened over all tokens of the batch        γ = 0",
  ].join("\n"),
  source:
    "spans, their matching and the whitening from the paper and its code; γ = 0 without a value head in place of GAE (ours); the critiquer is the environment's template, or any other (`spanRewards`), where the paper trains one; neither the damping of overlong answers (`markedSpans` has it as `slope`) nor the KL penalty",
  slots: spanRewards(scriptedCritiquer()),
});
