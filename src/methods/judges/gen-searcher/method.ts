import { askedModel } from "../../../evaluator/askedModel.ts";
import { yesAndNo } from "../../../evaluator/yesProbability.ts";
import { method } from "../../../method/method.ts";
import { dualReward } from "./dualReward.ts";

const question = "Is this correct and all that is needed?";

export const genSearcher = method({
  id: "gen-searcher",
  family: "judges",
  summary: "one judge of what was made of a reply and one of the reply itself share the reward",
  paper: "Gen-Searcher: Reinforcing Agentic Search for Image Generation",
  mechanism:
    "What an agent writes is handed to something frozen that makes the result, such as a generator of images, and makes it differently each time. A judge of the result is honest and noisy; a judge of the text alone is steady and can be pleased by what cannot be made. The reward is a blend of both.",
  equation: [
    "R = (1 − c) R_made + c R_text          0 for an attempt that was cut off",
    "A = (R − mean R) / std R               over the group",
  ].join("\n"),
  source:
    "the blend and the zeros for attempts without a result from the paper's code, where c is 0; c = 0.5 stands for its dual reward; the environment's reward in place of a judge of images, and a copy of the starting policy, asked whether a reply is right and enough, as judge of the text are ours: for others use `dualReward`; bounds on the number of reference images are left out",
  models: { judge: { from: "policy" } },
  needs: ["fork"],
  says: [`${question} ${yesAndNo.yes} ${yesAndNo.no}\n`],
  options: {
    share: { help: "c, the text judge's share of the reward", default: 0.5, low: 0, high: 1 },
  },
  slots: (_s, { share }) => ({
    feedback: dualReward({ made: "environment", text: askedModel(question), share }),
  }),
});
