import { method } from "../../../method/method.ts";
import { retries } from "./retries.ts";

export const ufoTryAgain = method({
  id: "ufo-try-again",
  family: "language-feedback",
  summary:
    'tries again after a bare "incorrect"; early right answers earn more, repeated answers are penalised',
  paper: 'A Simple "Try Again" Can Elicit Multi-Turn LLM Reasoning',
  mechanism:
    "A task with one answer to verify becomes an episode of several tries: after each wrong answer the policy sees only one fixed sentence, and the first right answer ends the episode (the environment tryAgain). Every try of the episode is trained on its return. Rewards that decay with the turn keep the first answer worth getting right, and a penalty on answers given twice makes the policy vary after a failure.",
  equation: [
    "R = Σ_t γ^t r_t − λ (1 − E/T)                γ = λ = 0.5, t = 0, 1, …",
    "r_t: reward of the answer of turn t, T: answers given, E: different ones (lower case, without blanks)",
    "A = (R − mean R) / std R                     over the group, on every token of every try",
  ].join("\n"),
  source:
    "γ, λ, the normaliser and the upper clip of 0.28 from the paper's code; group-normalised returns in place of PPO with a critic (ours), so neither its entropy bonus, KL penalty, format penalty nor its filter of groups",
  defaults: { clipHigh: 0.28 },
  options: {
    decay: { help: "γ, discount per earlier turn", default: 0.5, low: 0, high: 1 },
    penalty: { help: "λ, penalty in the limit where every answer is a repetition", default: 0.5, low: 0 },
  },
  slots: (_s, o) => ({ feedback: retries(o) }),
});
