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
  /** β, the pull towards the reference. */
  readonly beta?: number;
  /** Whether a user reacted in an episode of the log: 1 or 0, null where nobody could have. Default: the reward `love`. */
  readonly reacted?: (t: Trajectory) => number | null;
}

export function rlufWith(options: RlufOptions = {}): Recipe {
  const { weights = { love: 0.3, helpfulness: 0.7 }, beta = 0.1, reacted = loved, ...mixing } = options;
  const love = { helper: "love", channel: "love", features: (_ctx: Ctx, t: Trajectory) => lastCrossed(t) };
  return method({
    id: "rluf",
    family: "user-feedback",
    summary: "what users react to, predicted and mixed with other rewards, each standardised by itself",
    paper: "Reinforcement Learning from User Feedback",
    mechanism:
      "Reactions in a product, such as a heart, are rare, but every reply that was served either drew one or did not. A pointwise model of that log predicts the chance of a reaction for any reply, also for those that nobody was served. It becomes one of several rewards, each standardised over the batch, whose weights are swept: reactions carry what no judge sees, and too much weight on them is paid for with replies made to be liked. The same model says beforehand how a policy's reaction rate will change.",
    equation: [
      "P(x, y) = σ(b + θ · features(x, y)),   −Σ l ln P + (1 − l) ln(1 − P) least over the log     l: reacted or not",
      "A[i] = Σ_k w_k (r_k[i] − mean r_k) / std r_k,   Σ w = 1     r_love = P;   mean and std over the batch",
      "loss = −mean of A ln π + β KL(π ‖ ref)",
    ].join("\n"),
    source:
      "the mix and its sweep from the paper; the form of the loss, standardising and β rebuilt by us. A logistic regression on words for a language model with a head; the weight of 0.3 and the log of the first iteration, 16 times as large as the others, are ours",
    frozen: { reference: {} },
    helpers: { love: reactionModel({ strength: 1e-4, passes: 500 }) },
    slots: {
      feedback: [
        learntReward({ ...love, keep: 0 }),
        outcome({ rewards: ["helpfulness"], channel: "helpfulness" }),
      ],
      advantage: scalarised({ ...mixing, weights }),
      objective: [
        policyGradient({ normaliser: "rows" }),
        klPenalty({ coefficient: beta, estimator: "k2", normaliser: "rows" }),
      ],
    },
    phases: ({ groupSize, temperature }) => [
      {
        name: "log",
        from: 0,
        until: 1,
        slots: {
          rollout: multiTurn({ groupSize: 16 * groupSize, temperature }),
          feedback: learntReward({ ...love, heard: reacted, keep: 100_000 }),
          update: nothing(),
        },
      },
    ],
  });
}

/** Whether any turn was paid `love`; null where none could have been. */
function loved({ turns }: Trajectory): number | null {
  const said = turns.flatMap(({ rewards }) => rewards.love ?? []);
  return said.length === 0 ? null : Number(said.some((value) => value > 0));
}

export const rluf = rlufWith();
