import { method, type Recipe } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { imagined } from "./imaginedRollout.ts";
import { rewardVariance } from "./rewardVariance.ts";

export interface DreamgymOptions {
  /** Iterations in the experience model; all later ones are real. Default 80. */
  readonly imagined?: number;
  /** Real episodes of each imagined task, to measure what the model makes up. Default 0. */
  readonly probes?: number;
}

export function dreamgymWith({ imagined: dreams = 80, probes = 0 }: DreamgymOptions = {}): Recipe {
  return method({
    id: "dreamgym",
    family: "environments",
    summary: "practises in a model made of real transitions, on tasks solved now and then; then for real",
    paper: "Scaling Agent Learning via Experience Synthesis",
    mechanism:
      "Real steps are dear, so practice begins in a model of the environment (the environment imagined) that answers each action with the help of the most similar real transitions, and pays for completed tasks only. What is practised are the tasks whose attempts differ most, since a group that agrees teaches nothing. The same policy then goes on in the real environment, where a few episodes mend what the model had wrong.",
    equation: [
      "(s′, r) ~ M(task, history, s, a, top-k of the store by similarity of (s, a))        r = 1 at success, else 0",
      "V(x) = (1/n) Σ_i (r_i − r̄)²        tasks of highest V are practised",
      "gap = success imagined − success real",
    ].join("\n"),
    source:
      "retrieval, outcome reward and choice by variance from the paper; its model is a language model trained on rationales, ours copies the change of the nearest transition and makes up no reward; the store is made before practice and does not grow; how many iterations are imagined, the window of V and the share of tasks drawn from all are ours",
    slots: ({ tasks, groupSize, temperature }) => ({
      data: rewardVariance({ tasks }),
      rollout: imagined(multiTurn({ groupSize, temperature }), { probes }),
    }),
    phases: ({ groupSize, temperature }) => [
      { name: "real", from: dreams, slots: { rollout: multiTurn({ groupSize, temperature }) } },
    ],
  });
}

export const dreamgym = dreamgymWith();
