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
      "On live sites there is no gold answer: a judge says whether an episode did what was asked. While hardly any does, groups agree and nothing is learnt; a decision tree of cheap rules then still tells steps that get somewhere from idle, refused and invalid ones. The rules count by their mean over the steps, below what the judge counts, so that wandering does not pay. Of several calls of the judge the median counts, and an episode that it is silent about is not compared.",
    equation: [
      "R = w_J · median of m judge calls + w_P · (1/T) Σ_t rule[t]          w_J = 1, m = 3, w_P = 0.3",
      "rule[t]: −1 invalid, −0.5 repeated in vain, −0.5 refused or off the site, +0.3 a milestone, +0.1 a change, else 0; the first that holds",
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
