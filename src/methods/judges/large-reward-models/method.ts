import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { frameJudge } from "./frameJudge.ts";
import { judgedFrames } from "./judgedFrames.ts";

export const largeRewardModels = method({
  id: "large-reward-models",
  family: "judges",
  summary: "a judge of frames, fitted once to demonstrations, pays contrast, progress and completion",
  paper: "Large Reward Models: Generalizable Online Robot Reward Generation with Vision-Language Models",
  mechanism:
    "A judge is fitted once to whole episodes and then frozen. It says of two frames which is closer to the goal, of one what share of the task is done, and whether it is finished. The three together reward every step of the policy, without any reward of the environment and without code for the task.",
  equation: [
    "r_t = w_c c(o_t, o_{t+1}) + w_p (p(o_{t+1}) − p(o_t)) + w_d d(o_{t+1})        until the first d = 1",
    "c in {−1, 0, 1}: which frame is closer;  p in [0, 1]: share done;  d in {0, 1}: finished",
    "A_t = Σ_{j ≥ t} γ^(j − t) r_j − its mean over the group at turn t, in deviations",
  ].join("\n"),
  source:
    "the three signals and the frozen judge from a summary of the paper; w = 0.1, 1, 1, the difference of progress in place of progress, a contrast of 0 where the judge is unsure, logistic models of a frame's words in place of a vision-language model, demonstrations by the environment's expert and group-relative returns in place of PPO are ours; the start from imitation is left to the warm start",
  helpers: { judge: frameJudge() },
  options: {
    contrast: { help: "w_c, reward of a frame that is closer to the goal", default: 0.1, low: 0, high: 1e6 },
    progress: { help: "w_p, reward of the whole way from start to goal", default: 1, low: 0, high: 1e6 },
    completion: {
      help: "w_d, reward of a frame that is judged to be the goal",
      default: 1,
      low: 0,
      high: 1e6,
    },
    demonstrations: {
      help: "attempts of the environment's expert that the judge is fitted to",
      default: 16,
      low: 1,
      high: 10_000,
      whole: true,
    },
    discount: { help: "γ, discount per turn", default: 0.97, low: 0, high: 1 },
  },
  slots: (_s, { contrast, progress, completion, demonstrations, discount }) => ({
    feedback: judgedFrames({ contrast, progress, completion, demonstrations }),
    credit: perTurn(),
    advantage: returnsToGo({ discount, normalise: true }),
  }),
});
