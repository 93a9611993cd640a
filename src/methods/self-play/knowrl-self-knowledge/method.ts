import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { method } from "../../../method/method.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { selfConsistent } from "./selfConsistent.ts";

export const knowrlSelfKnowledge = method({
  id: "knowrl-self-knowledge",
  family: "self-play",
  summary: "proposes tasks that it can or cannot do, and is paid for judging them consistently",
  paper: "KnowRL: Teaching Language Models to Know What They Know",
  mechanism:
    "The policy proposes tasks that it believes it can do and tasks that it cannot. It then judges each of them several times without seeing what it said. A proposal is paid by the share of judgements that agree with its label; judgements are paid for agreeing with their majority. Nothing but its own consistency is used, so that what it believed becomes sharper, whether it was true or not.",
  equation: [
    "R(x_m) = 1/k #{j : v_{m,j} = label_m},   v_{m,1…k} ~ π(· | judge x_m)",
    "A_m = R_m − mean of R over the other proposals of the cycle",
    "judgements: r_j = 1[v_j = majority],   A_j = r_j − mean of the other judgements of x_m",
    "loss = −mean A ln π + β KL(π ‖ π_0)",
  ].join("\n"),
  source:
    "k, half of the proposals under each label and consensus as reward from a review of the paper; the gradient estimator, the stricter reward by label (`consensus` is the paper's) and the training of judgements are ours. Without its pool of examples that grows in the prompt: a table reads none",
  frozen: { reference: {} },
  options: {
    proposals: { help: "proposals of a cycle", default: 24, low: 2, whole: true },
    judgements: { help: "k, judgements of each", default: 8, low: 1, whole: true },
    reward: { help: "what judgements have to agree with", default: "label", oneOf: ["label", "consensus"] },
    judge: { help: "whether judgements are trained as well", default: true },
    kl: { help: "β, weight of the penalty towards the first policy", default: 0, low: 0 },
  },
  slots: ({ temperature }, { proposals, judgements, reward, judge, kl }) => ({
    rollout: selfConsistent({
      ...{ proposals, judgements, judge, temperature },
      reward: reward === "consensus" ? "consensus" : "label",
    }),
    advantage: leaveOneOut(),
    objective: kl > 0 ? [policyGradient(), klPenalty({ coefficient: kl })] : policyGradient(),
  }),
});
