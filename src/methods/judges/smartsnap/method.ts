import { yesAndNo } from "../../../evaluator/yesProbability.ts";
import { method } from "../../../method/method.ts";
import { provenReward } from "./provenReward.ts";
import { proofQuestions, readerJudge } from "./readerJudge.ts";

export const smartsnap = method({
  id: "smartsnap",
  family: "judges",
  summary: "the agent hands in the observations that prove what it did, and the judge sees only those",
  paper: "SmartSnap: Proactive Evidence Seeking for Self-Verifying Agents",
  mechanism:
    "An agent's last action submits a message and the numbers of earlier observations as evidence. A judge sees the task, the message and those observations, as the environment wrote them, and not the trajectory. Success that is not proven pays nothing, so that the agent takes actions for the sake of proof, such as opening a page again; honest evidence of a failure pays more than evidence that proves nothing; and a long list costs. So what the judge reads is short and to the point, and it errs less.",
  equation: [
    "R_v = 1 where most of N votes say success, 0 where most say that the evidence is valid, else −1",
    "R = R_v − 0.1 · max(|E| − 3, 0)          −1 without exactly one well-formed submission, as the last action",
    "A = (R − mean R) / std R                 over the group",
  ].join("\n"),
  source:
    "the reward, three votes and the form of a submission from the paper's code; no KL penalty. A copy of the starting policy stands in for the judge, and answers two questions; an observation is what the environment showed after an action, numbered from 1; the bonus for using tools, which the paper turns off in its main runs, is left out. The environment has to offer `submit`",
  models: { judge: { from: "policy" } },
  needs: ["fork"],
  says: [`${proofQuestions.success} ${proofQuestions.valid} ${yesAndNo.yes} ${yesAndNo.no}`],
  options: {
    votes: { help: "N, votes of the judge on each submission", default: 3, low: 1, high: 99, whole: true },
    free: { help: "pieces of evidence that cost nothing", default: 3, low: 0, high: 1e6, whole: true },
    price: { help: "cost of each further piece", default: 0.1, low: 0, high: 100 },
  },
  slots: (_s, { votes, free, price }) => ({
    feedback: provenReward({ judge: readerJudge("judge"), votes, free, price }),
  }),
});
