import { constant } from "../../../advantage/constant.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import type { Feedback } from "../../../core/slots.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { minibatches } from "../../../update/minibatches.ts";
import { type FollowUps, followUpLikelihood } from "./followUpLikelihood.ts";
import { withFollowUpRows } from "./withFollowUpRows.ts";

export interface FlrOptions {
  /** Follow-up utterances that the user model scores, by category. */
  readonly followUps?: Readonly<Record<string, FollowUps>>;
  /** A feedback that ranks the replies instead, for comparison. */
  readonly feedback?: Feedback;
  /** Initial iterations that fit the user model; `size` multiplies their group size. Default 1 iteration, size 2. */
  readonly listen?: { readonly iterations: number; readonly size: number };
  /** Step size and passes of the user model's training on follow-ups. Default 0.1 and 20. */
  readonly tuning?: { readonly learningRate: number; readonly epochs: number };
}

/** Our utterances, for three aspects of helpfulness. */
const usual: Readonly<Record<string, FollowUps>> = {
  relevance: { positive: ["that is what i asked for"], negative: ["that is not what i asked for"] },
  understanding: { positive: ["you understood me well"], negative: ["you did not understand me"] },
  use: { positive: ["thanks , that helps a lot"], negative: ["that does not help me at all"] },
};

export function flrWith(options: FlrOptions = {}): Recipe {
  const { followUps = usual, listen = { iterations: 1, size: 2 } } = options;
  const { tuning = { learningRate: 0.1, epochs: 20 } } = options;
  return method({
    id: "flr",
    family: "user-feedback",
    summary: "ranks replies by the likelihood of a satisfied user's follow-up; DPO on best against worst",
    paper: "Aligning Language Models Using Follow-up Likelihood as Reward Signal",
    mechanism:
      "Some follow-ups are more likely after a good reply than after a bad one. A language model in the user's role scores the likelihood of a few fixed utterances after each sampled reply; the score of the satisfied ones minus that of the dissatisfied ones is a reward without labels. Of each prompt's samples the best and the worst become a pair for direct preference optimisation. Training the user model first on real follow-ups makes it more accurate.",
    equation: [
      "l(f | x, y) = 1/|f| Σ_j ln p_user(f_j | x, y, f_<j)                 f in the user's next turn",
      "R(x, y) = mean over f ∈ F+ of l(f | x, y) − mean over f ∈ F− of l(f | x, y)       mean over categories",
      "loss = −ln σ(β (ln π/ref(y_w) − ln π/ref(y_l)))      y_w = argmax R, y_l = argmin R, β = 0.1",
    ].join("\n"),
    source:
      "signed difference, categories and the tuning on real follow-ups from the paper; averaging over tokens reconstructed by us; the utterances, one iteration of user-model training, its step size and passes are ours; pairs are sampled from the current policy",
    says: Object.values(followUps).flatMap(({ positive, negative }) => [...positive, ...negative]),
    frozen: { reference: {} },
    models: { user: { from: "policy" } },
    learnsFrom: { kind: "rating", group: "task" },
    slots: {
      feedback: options.feedback ?? followUpLikelihood({ followUps }),
      advantage: [constant(), outcomePairs({ pairs: "extremes" })],
      objective: pairwise(),
    },
    phases: ({ groupSize, temperature }) => [
      {
        name: "listen",
        from: 0,
        until: listen.iterations,
        slots: {
          rollout: withFollowUpRows(multiTurn({ groupSize: listen.size * groupSize, temperature })),
          feedback: [],
          advantage: [], // the replies themselves are not trained on
          objective: likelihood({ normaliser: "rows" }),
          update: minibatches({ step: tuning, epochs: tuning.epochs }),
        },
      },
    ],
  });
}

export const flr = flrWith();
