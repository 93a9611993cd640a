import { ridge } from "../../../helper/ridge.ts";
import { method } from "../../../method/method.ts";
import { critiqueReward } from "./critiqueReward.ts";

export const rmNlhf = method({
  id: "rm-nlhf",
  family: "judges",
  summary: "pays a judge for arguments that people also gave; a meta reward model stands in where none are",
  paper: "Reward Modeling from Natural Language Human Feedback",
  mechanism:
    "A judge writes a critique and a verdict. A right verdict with bad reasons is worth little, so the critique is paid too, by how well its arguments match those of a human critique. Most items have none: a meta reward model predicts the match there. It is fitted anew in every iteration to the judge's own critiques that people criticised as well, so that it follows the judge.",
  equation: [
    "R = R_out + λ R_proc                R_out: the verdict is right;   λ = 1",
    "R_proc = 2PR / (P + R)              P, R: shares of the judge's, of the people's arguments that match",
    "R_proc := m(critique) where no human critique exists;   m fitted to (critique, R_proc) of this iteration and those before",
    "A = (R − mean R) / std R            over the group",
  ].join("\n"),
  source:
    "the F1 of core arguments, the sum and the meta reward model that learns online from notes of the paper; λ = 1, sentences as arguments, a match from a cosine of 0.8 in place of a language model's judgement, and ridge regression on a critique's words as meta reward model are ours. A human critique is `metadata.critique` of a task",
  helpers: { meta: ridge({ keep: 0.9 }) },
  options: { lambda: { help: "λ, weight of the critique's arguments", default: 1, low: 0, high: 100 } },
  slots: (_s, { lambda }) => ({ feedback: critiqueReward({ lambda, meta: "meta" }) }),
});
