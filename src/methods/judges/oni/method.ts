import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { type CaptionRewardsOptions, captionRewards } from "./captionRewards.ts";
import { annotation, modelAnnotator } from "./modelAnnotator.ts";

/** The environment's rewards and those of captions, discounted per turn. */
export const intrinsic = (
  discount: number,
  captions?: CaptionRewardsOptions,
): Pick<SlotChoices, "feedback" | "credit" | "advantage"> => ({
  feedback: [turnRewards({ unpaid: "zero" }), ...(captions ? [captionRewards(captions)] : [])],
  credit: perTurn(),
  advantage: returnsToGo({ discount, normalise: true }),
});

export const oni = method({
  id: "oni",
  family: "judges",
  summary: "rewards observations that a language model, asked while training goes on, calls progress",
  paper: "Online Intrinsic Rewards for Decision Making Agents from Large Language Model Feedback",
  mechanism:
    "What the agent sees after an action is a caption. Captions that are new go into a queue, and while training goes on a language model says of the newest whether they tell of progress. Its labels are distilled at once into an intrinsic reward: a table of captions, or a classifier of their words. A caption that comes again in an episode pays less each time, so that one message cannot be farmed. No data are collected before, and the agent never waits for the annotator.",
  equation: [
    "r_t = r_env,t + c · r_int(m_t) / N(m_t)^β                   m_t: caption of what action t led to",
    "r_int(m) = label of m, or 0 without one (retrieval);   1[p(1 | words of m) > ½] (classification)",
    "N(m): times that m has come in this episode, this time included",
    "A_t = Σ_{j ≥ t} γ^(j − t) r_j − its mean over the group at turn t, in deviations",
  ].join("\n"),
  source:
    "β = 3, c = 0.04 times the environment's reward (0.4 and 10), the newest captions first and the three rewards from the paper's code; the ranking of pairs is left out. The annotator labels between two iterations, so labels are one iteration late, where the paper's works in the background; 100 labels an iteration, group-relative returns and a copy of the starting policy as annotator are ours: for another annotator use `captionRewards`",
  models: { annotator: { from: "policy" } },
  needs: ["fork"],
  says: [`${annotation.question} ${annotation.yes} ${annotation.no}\n`],
  options: {
    coefficient: { help: "c, reward of a caption of progress", default: 0.04, low: 0, high: 1e6 },
    decay: { help: "β, how fast a caption pays less within an episode", default: 3, low: 0, high: 100 },
    labels: { help: "captions labelled in an iteration", default: 100, low: 1, high: 1e6, whole: true },
    model: {
      help: "what the labels are distilled into",
      default: "retrieval",
      oneOf: ["retrieval", "classification"],
    },
    discount: { help: "γ, discount per turn", default: 0.97, low: 0, high: 1 },
  },
  slots: (_s, { coefficient, decay, labels, model, discount }) =>
    intrinsic(discount, {
      annotator: modelAnnotator(),
      coefficient,
      decay,
      labels,
      model: model === "classification" ? model : "retrieval",
    }),
});
