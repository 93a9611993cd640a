import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { judgement } from "./judgement.ts";

export const reseek = method({
  id: "reseek",
  family: "credit",
  summary: "a search agent judges each find, is paid for its verdicts, and forgets what it refuses",
  paper: "ReSeek: A Self-Correcting Framework for Search Agents with Instructive Rewards",
  mechanism:
    "After every observation the agent says whether it is of use. What it refuses leaves its context, so that a wrong lead can be given up, and each verdict is compared with how relevant the observation is for the right answer. These small rewards come on top of the one for the answer.",
  equation: [
    "R = R_answer + Σ verdicts v",
    "v(yes) = p if the answer is right, else −q/2 on useful finds and −q on others        p = 0.1",
    "v(no) = −q on useful finds, p/5 on others                                            q = 0.05",
  ].join("\n"),
  source:
    "table, p and q from the paper's code; forgetting what is refused is the environment's part here (ours)",
  slots: { feedback: [outcome({ rewards: ["outcome"] }), judgement()] },
});
