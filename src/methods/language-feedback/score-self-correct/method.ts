import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { anchorDivergence } from "../../../feedback/anchorDivergence.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type Phase } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { improvement } from "./improvement.ts";

/** The initial phase: only the second answer is trained, and a KL penalty keeps the first one near the reference. */
export const initialisation = (iterations: number): readonly Phase[] => [
  {
    name: "initialisation",
    from: 0,
    until: iterations,
    slots: { feedback: [turnRewards({ from: 1 }), anchorDivergence({ coefficient: [0.1, 0.01] })] },
  },
];

export const scoreSelfCorrect = method({
  id: "score-self-correct",
  family: "language-feedback",
  summary: "learns self-correction over two answers, in two stages, with a bonus for improvement",
  paper: "Training Language Models to Self-Correct via Reinforcement Learning",
  mechanism:
    "Every task is answered twice in one context, with a fixed instruction to revise in between and no information on whether the first answer was right (an environment that asks until the last reply). Trained on both rewards only, a policy learns its best first answer and then repeats it. So the first stage trains the second answer, with a KL penalty that keeps the first one near the reference; the second stage trains both, with a bonus for every improvement: repeating a right answer earns no bonus, correcting a wrong one a large one.",
  equation: [
    "first:  R[0] = −β₂ KL,                              R[1] = r[1] − β₁ KL          β₂ = 0.1, β₁ = 0.01",
    "then:   R[0] = r[0] − β₁ KL,                        R[1] = r[1] + α (r[1] − r[0]) − β₁ KL    α = 10",
    "A[k] = (R[k] − mean R[k]) / std R[k]                over the batch, on the tokens of answer k alone",
    "loss = −mean over tokens of A · ln π                KL: ln π_old − ln π_ref of the answer's tokens, as sampled",
  ].join("\n"),
  source:
    "the two stages, the bonus and the positions of the penalties from the paper, α and β from second-hand descriptions; standardising each answer's return over the batch (which takes the weight β₂ out of the first stage, where the first answer earns nothing else), and 45 iterations of that stage: ours",
  frozen: { reference: {} },
  needs: ["freeze"],
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  options: {
    initial: { help: "iterations of the initial stage", default: 45, low: 0, whole: true },
    bonus: { help: "α, weight of the improvement of the second answer over the first", default: 10, low: 0 },
    kl: { help: "β₁, KL penalty per nat of an answer", default: 0.01, low: 0 },
  },
  slots: (_s, o) => ({
    feedback: [turnRewards(), improvement({ factor: o.bonus }), anchorDivergence({ coefficient: [o.kl] })],
    credit: perTurn(),
    advantage: returnsToGo({ discount: 0, baseline: "stage", normalise: true }),
    objective: policyGradient(),
  }),
  phases: (_s, o) => initialisation(o.initial),
});
