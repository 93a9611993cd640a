import type { Ctx } from "../../../core/context.ts";
import type { Trajectory } from "../../../core/types.ts";
import { learntReward } from "../../../feedback/learntReward.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { lastCrossed } from "../../../helper/crossedWords.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { nothing } from "../../../update/nothing.ts";
import { reactionModel } from "./reactionModel.ts";
import { type ScalarisedOptions, scalarised } from "./scalarised.ts";

export interface RlufOptions extends Partial<ScalarisedOptions> {
  /** β, coefficient of the KL penalty towards the reference. */
  readonly beta?: number;
  /** Whether a user reacted in an episode of the log: 1 or 0, null where no reaction was possible. Default: the reward `love`. */
  readonly reacted?: (t: Trajectory) => number | null;
}

export function rlufWith(options: RlufOptions = {}): Recipe {
  const { weights = { love: 0.3, helpfulness: 0.7 }, beta = 0.1, reacted = loved, ...mixing } = options;
  const love = { helper: "love", channel: "love", features: (_ctx: Ctx, t: Trajectory) => lastCrossed(t) };
  return method({
    id: "rluf",
    family: "user-feedback",
    summary: "predicts user reactions and mixes them with other rewards, each standardised separately",
    paper: "Reinforcement Learning from User Feedback",
    mechanism:
      "Reactions in a product, such as a heart, are rare, but every served reply either got one or did not. A pointwise model of that log predicts the probability of a reaction for any reply, including replies that were never served. It becomes one of several rewards, each standardised over the batch, whose weights are swept: reactions carry information that no judge has, but too much weight on them leads to replies that please instead of help. The same model predicts offline how a policy's reaction rate will change.",
    equation: [
      "P(x, y) = σ(b + θ · features(x, y)),   −Σ l ln P + (1 − l) ln(1 − P) least over the log     l: reacted or not",
      "A[i] = Σ_k w_k (r_k[i] − mean r_k) / std r_k,   Σ w = 1     r_love = P;   mean and std over the batch",
      "loss = −mean of A ln π + β KL(π ‖ ref)",
    ].join("\n"),
    source:
      "the mix and its sweep from the paper; the form of the loss, standardising and β reconstructed by us. A logistic regression on words in place of a language model with a head; the weight of 0.3 and the log of the first iteration, 16 times as large as the others, are ours",
    frozen: { reference: {} },
    helpers: { love: reactionModel({ strength: 1e-4, passes: 500 }) },
    options: {
      beta: { help: "β, coefficient of the KL penalty towards the reference", default: beta, low: 0 },
    },
    slots: (_s, o) => ({
      feedback: [
        learntReward({ ...love, keep: 0 }),
        outcome({ rewards: ["helpfulness"], channel: "helpfulness" }),
      ],
      advantage: scalarised({ ...mixing, weights }),
      objective: [
        policyGradient({ normaliser: "rows" }),
        klPenalty({ coefficient: o.beta, estimator: "k2", normaliser: "rows" }),
      ],
    }),
    phases: ({ groupSize, temperature }) => [
      {
        name: "log",
        from: 0,
        until: 1,
        slots: {
          rollout: multiTurn({ groupSize: 16 * groupSize, temperature }),
          feedback: learntReward({ ...love, feedbackOn: reacted, keep: 100_000 }),
          update: nothing(),
        },
      },
    ],
  });
}

/** Whether any turn got a positive reward `love`; null where no turn has that reward. */
function loved({ turns }: Trajectory): number | null {
  const said = turns.flatMap(({ rewards }) => rewards.love ?? []);
  return said.length === 0 ? null : Number(said.some((value) => value > 0));
}

export const rluf = rlufWith();
