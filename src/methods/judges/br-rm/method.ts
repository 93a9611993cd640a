import { method } from "../../../method/method.ts";
import { branchAndRethink, branchWords } from "./branchAndRethink.ts";
import { branchReward, usualCriteria } from "./branchReward.ts";

const branch = `Name one to three criteria that decide here, and nothing else: ${usualCriteria.join(" ")}`;
const rethink = "Look again with those criteria in mind, and give the verdict.";

export const brRm = method({
  id: "br-rm",
  family: "judges",
  summary:
    "a judge names the criteria that decide, then looks again with those; one reward trains both turns",
  paper: "Think Twice: Branch-and-Rethink Reasoning Reward Model",
  mechanism:
    "A judge that looks at everything at once looks at nothing closely. Here it first names one to three criteria, out of a fixed list, that matter for this pair. Then it reads again with those in mind and gives its verdict. Whether the verdict is right rewards both turns alike; a judgement that breaks the form is worth less than a wrong one.",
  equation: [
    "τ_1 ~ π(· | x, branch),   τ_2 ~ π(· | x, branch, τ_1, rethink)",
    "R = 1 right,  0 wrong,  −1 malformed",
    "A = (R − mean R) / std R over the group, on the tokens of both turns",
  ].join("\n"),
  source:
    "two turns, up to three of nine criteria and the shared reward from reviews of the paper; the criteria's names but for four, −1 and the wording are ours; notes on where each reply may fail are left out. The order of the replies is the environment's: let it be random",
  says: [branch, rethink, branchWords.branch, usualCriteria.join(" ")],
  slots: ({ groupSize, temperature }) => ({
    rollout: branchAndRethink({ groupSize, temperature, branch, rethink }),
    feedback: branchReward(),
  }),
});
