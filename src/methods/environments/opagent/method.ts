import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { type JudgedOptions, judged } from "./judged.ts";
import { type RuleTreeOptions, ruleTree } from "./ruleTree.ts";

export interface OpagentOptions {
  readonly judge?: JudgedOptions;
  readonly rules?: RuleTreeOptions;
}

export function opagentWith({ judge = {}, rules = {} }: OpagentOptions = {}): Recipe {
  return method({
    id: "opagent",
    family: "environments",
    summary: "web agents rewarded by a judge of the whole episode and a rule tree for every step",
    paper: "OpAgent: Operator Agent for Web Navigation",
    mechanism:
      "On live sites there is no gold answer: a judge decides whether an episode completed the task. While almost none does, groups have uniform rewards and give no gradient; a decision tree of cheap rules still separates productive steps from idle, refused and invalid ones. The rules contribute their mean over the steps, with less weight than the judge, so wandering is not rewarded. The median of several judge calls counts, and an episode without a judge score is left out of the comparison.",
    equation: [
      "R = w_J · median of m judge calls + w_P · (1/T) Σ_t rule[t]          w_J = 1, m = 3, w_P = 0.3",
      "rule[t]: −1 invalid, −0.5 repeated without effect, −0.5 refused or off the site, +0.3 a milestone, +0.1 a change, else 0; the first rule that applies",
      "A[i] = (R[i] − mean R) / std R",
    ].join("\n"),
    source:
      "judge and rule tree from the paper's summary; the rules, their order and values, weights and the median are ours; supervised tuning by function and the harness of planner, grounder, reflector and summariser, which act at inference, are left out",
    slots: {
      feedback: [judged(judge), ruleTree(rules)],
      advantage: groupNormalised({ required: ["judge"] }),
    },
  });
}

export const opagent = opagentWith();
