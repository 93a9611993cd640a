import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { judgement } from "./judgement.ts";

export const reseek = method({
  id: "reseek",
  family: "credit",
  summary:
    "a search agent judges each observation, is rewarded for right judgements, and drops what it rejects",
  paper: "ReSeek: A Self-Correcting Framework for Search Agents with Instructive Rewards",
  mechanism:
    "After every observation the agent states whether it is useful. Rejected observations are removed from its context, so the agent can abandon a wrong lead, and each judgement is compared with the observation's relevance to the right answer. These small rewards are added to the reward for the answer.",
  equation: [
    "R = R_answer + Σ judgements v",
    "v(yes) = p if the answer is right, else −q/2 on useful observations and −q on others        p = 0.1",
    "v(no) = −q on useful observations, p/5 on others                                            q = 0.05",
  ].join("\n"),
  source: "table, p and q from the paper's code; the environment removes rejected observations (ours)",
  options: {
    reward: { help: "reward for a correct yes; a correct no gets a fifth of it", default: 0.1, low: 0 },
    penalty: { help: "penalty for a wrong judgement", default: 0.05, low: 0 },
  },
  slots: (_s, o) => ({ feedback: [outcome({ rewards: ["outcome"] }), judgement(o)] }),
});
