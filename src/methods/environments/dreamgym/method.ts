import { method, type Recipe } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { imagined } from "./imaginedRollout.ts";
import { rewardVariance } from "./rewardVariance.ts";

export interface DreamgymOptions {
  /** Iterations in the experience model; later ones use the real environment. Default 80. */
  readonly imagined?: number;
  /** Real episodes per imagined task, to measure the model's error. Default 0. */
  readonly probes?: number;
}

export function dreamgymWith({ imagined: dreams = 80, probes = 0 }: DreamgymOptions = {}): Recipe {
  return method({
    id: "dreamgym",
    family: "environments",
    summary: "trains in an experience model built from real transitions, then in the real environment",
    paper: "Scaling Agent Learning via Experience Synthesis",
    mechanism:
      "Real steps are expensive, so training begins in a model of the environment (the environment imagined), which responds to each action from the most similar real transitions and rewards only completed tasks. It selects the tasks whose attempts have the highest reward variance, since a group with uniform rewards gives no gradient. Training then continues in the real environment, where a few episodes correct the model's errors.",
    equation: [
      "(s′, r) ~ M(task, history, s, a, top-k of the store by similarity of (s, a))        r = 1 at success, else 0",
      "V(x) = (1/n) Σ_i (r_i − r̄)²        tasks of highest V are trained on",
      "gap = success imagined − success real",
    ].join("\n"),
    source:
      "retrieval, outcome reward and choice by variance from the paper; its model is a language model trained on rationales, ours copies the change of the nearest transition and invents no reward; the store is built before training and does not grow; the number of imagined iterations, the window of V and the share of uniformly drawn tasks are ours",
    options: {
      imagined: { help: "iterations in the experience model", default: dreams, low: 0, whole: true },
      probes: {
        help: "real episodes per imagined task, which measure the model's error",
        default: probes,
        low: 0,
        whole: true,
      },
    },
    slots: ({ tasks, groupSize, temperature }, o) => ({
      data: rewardVariance({ tasks }),
      rollout: imagined(multiTurn({ groupSize, temperature }), { probes: o.probes }),
    }),
    phases: ({ groupSize, temperature }, o) => [
      { name: "real", from: o.imagined, slots: { rollout: multiTurn({ groupSize, temperature }) } },
    ],
  });
}

export const dreamgym = dreamgymWith();
