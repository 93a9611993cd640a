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
  /** What is asked of the model that plays the user, by category. */
  readonly followUps?: Readonly<Record<string, FollowUps>>;
  /** What ranks the replies instead, for comparison. */
  readonly feedback?: Feedback;
  /** Iterations that listen to users first, so many times as large as the others. Default 1, twice as large. */
  readonly listen?: { readonly iterations: number; readonly size: number };
  /** Step size and passes by which the model of the user learns what users say. Default 0.1 and 20. */
  readonly tuning?: { readonly learningRate: number; readonly epochs: number };
}

/** Ours, for three sides of helpfulness. */
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
    summary: "replies ranked by how likely a satisfied user's next words are, best against worst",
    paper: "Aligning Language Models Using Follow-up Likelihood as Reward Signal",
    mechanism:
      "After a good reply users are likelier to say certain things than after a bad one. A language model in the user's place is asked how likely a few fixed utterances are after each sampled reply; the satisfied ones less the dissatisfied ones make a reward without any labels. Of each prompt's samples the best and the worst become a pair for direct preference optimisation. Learning first to say what users really said sharpens the model of the user.",
    equation: [
      "l(f | x, y) = 1/|f| Σ_j ln p_user(f_j | x, y, f_<j)                 f in the user's next turn",
      "R(x, y) = mean over f ∈ F+ of l(f | x, y) − mean over f ∈ F− of l(f | x, y)       mean over categories",
      "loss = −ln σ(β (ln π/ref(y_w) − ln π/ref(y_l)))      y_w = argmax R, y_l = argmin R, β = 0.1",
    ].join("\n"),
    source:
      "signed difference, categories and the tuning on what users said from the paper; averaging over tokens rebuilt by us; the utterances, one round of listening, its step size and passes are ours; pairs are sampled from the policy of the day",
    says: Object.values(followUps).flatMap(({ positive, negative }) => [...positive, ...negative]),
    frozen: { reference: {} },
    models: { user: { from: "policy" } },
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
          advantage: [], // the replies themselves are not learnt from
          objective: likelihood({ normaliser: "rows" }),
          update: minibatches({ step: tuning, epochs: tuning.epochs }),
        },
      },
    ],
  });
}

export const flr = flrWith();
