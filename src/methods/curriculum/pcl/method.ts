import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { uniform } from "../../../data/uniform.ts";
import { method } from "../../../method/method.ts";
import { valueChosen } from "./valueChosen.ts";

export const pcl = method({
  id: "pcl",
  family: "curriculum",
  summary:
    "plays the tasks whose reward, as a value model expects it from the prompt, is nearest to one half",
  paper: "Prompt Curriculum Learning for Efficient LLM Post-Training",
  mechanism:
    "Tasks with a success rate near one half give the largest gradient. To measure that rate by attempts is costly, and its history is stale. A small value model predicts the expected reward of the current policy from the prompt alone: each iteration scores a pool of candidates, plays those nearest to the target, and uses their rewards for both the policy and the value model.",
  equation: [
    "pool: k m tasks;  B = the m of them with the smallest |V(x) − τ|, a share ε at random",
    "A[i,j] = r[i,j] − mean_j r[i,j]",
    "V ← argmin Σ_i (V(x_i) − mean_j r[i,j])²        on the m played tasks, a few steps",
  ].join("\n"),
  source:
    "pool, target τ = ½ and the value's loss from the paper; k = 4, ε = 0.1 and a logistic regression on the words of the prompt in place of a language model with a scalar head are ours",
  options: {
    pool: { help: "k, candidates for each task that is played", default: 4, low: 1, whole: true },
    target: {
      help: "τ, the expected reward that chosen tasks are nearest to",
      default: 0.5,
      low: 0,
      high: 1,
    },
    random: { help: "ε, share of the tasks that are drawn at random", default: 0.1, low: 0, high: 1 },
  },
  slots: ({ tasks }, { pool, target, random }) => ({
    data: valueChosen(uniform({ tasks: pool * tasks }), { tasks, target, random }),
    advantage: groupNormalised({ scale: "none" }),
  }),
});
