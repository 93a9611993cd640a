import { askedModel } from "../../../evaluator/askedModel.ts";
import { yesAndNo } from "../../../evaluator/yesProbability.ts";
import { method } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptWords } from "../../../rollout/retryWithFeedback.ts";
import { bothSkills } from "./bothSkills.ts";
import { rubricReward } from "./rubricReward.ts";

const [technique, honesty] = [
  "Does this use real techniques of optimisation?",
  "Does this do what was asked, without copying or getting round it?",
];

export const stitchcuda = method({
  id: "stitchcuda",
  family: "judges",
  summary: "writing a program and improving one after feedback, paid by rules, a rubric and a veto",
  paper:
    "StitchCUDA: An Automated Multi-Agents End-to-End GPU Programing Framework with Rubric-based Agentic Reinforcement Learning",
  mechanism:
    "A coder is trained in two skills of one turn: to write a program, and to improve one after what the compiler, the tests and the profiler said. Running a program gives the rule part of the reward, the speedup included. A judge adds a rubric part for techniques that make programs faster, and its veto sets to 0 whatever gets round the requirement. The rubric never lifts a wrong program above a correct one.",
  equation: [
    "R_rule = 0 does not compile;  0.1 wrong;  0.5 + clip(log₂ speedup, 0, 2) correct",
    "R = R_rule + λ · mean of s_k          λ = 0.5 correct, 0.2 wrong, 0 does not compile;   R = 0 where vetoed",
    "A = (R − mean R) / std R              over the attempts, and over the improvements, of a task",
  ].join("\n"),
  source:
    "reconstructed from the paper's abstract: all constants, the weights of the rubric and the equal parts of the two skills are ours; the planner and the verifier are the environment; a copy of the starting policy, asked two questions, is the judge: for another use `rubricReward`",
  models: { judge: { from: "policy" } },
  needs: ["fork"],
  says: [`${technique} ${yesAndNo.yes} ${yesAndNo.no}\n`, honesty, attemptWords],
  slots: (s) => ({
    rollout: bothSkills(multiTurn(s)),
    feedback: rubricReward({ rubric: askedModel(technique), veto: askedModel(honesty) }),
  }),
});
