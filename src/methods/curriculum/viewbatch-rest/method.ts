import { constant } from "../../../advantage/constant.ts";
import { teacher } from "../../../annotate/teacher.ts";
import { method } from "../../../method/method.ts";
import { distillation } from "../../../objective/distillation.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";
import { asFirstView, atFirstView, firstView, otherViews } from "./firstView.ts";
import { viewBatches } from "./viewBatches.ts";

export const viewbatchRest = method({
  id: "viewbatch-rest",
  family: "curriculum",
  summary: "a batch holds several views of few tasks, so that a task rests longer until it comes again",
  paper: "Do Your Best and Get Enough Rest for Continual Learning",
  mechanism:
    "A batch of B rows holds V views of each of B/V tasks in place of B tasks once. Every task is seen as often as before, but the time between two encounters grows V-fold, as in spaced rehearsal. To make an encounter count, a consistency term pulls the distributions under the other views towards that under the first one, which is changed least.",
  equation: [
    "batch: x_1, …, x_V of each of B/V tasks, in passes over all tasks",
    "loss = −mean of ln π(y* | x_v) + λ · mean over v > 1 of KL(sg π(· | x_1) ‖ π(· | x_v))",
  ].join("\n"),
  source:
    "V = 4, λ = 1, passes and the detached first view from the paper and its code. A view leaves out words of the prompt at random, the first one half as many; the learner that it is put into imitates the expert; 20 iterations before the consistency term in place of five epochs of each task are ours",
  learnsFrom: { kind: "demonstration" },
  needs: ["topk", "at"],
  options: {
    views: { help: "V, views of a task in a batch", default: 4, low: 1, whole: true },
    consistency: { help: "λ, weight of the consistency term", default: 1, low: 0, high: 100 },
    from: { help: "iterations before the consistency term", default: 20, low: 0, whole: true },
    drop: { help: "share of a prompt's words that a view leaves out", default: 0.1, low: 0, high: 0.9 },
  },
  slots: ({ tasks }, { views, consistency, from, drop }) => ({
    data: viewBatches({ tasks, views, drop }),
    rollout: demonstrated(),
    annotate:
      consistency > 0 && views > 1
        ? teacher({ tell: atFirstView(from), place: asFirstView, ids: "teacher", note: firstView })
        : [],
    advantage: [constant(), otherViews()],
    objective: [
      likelihood(),
      ...(consistency > 0 && views > 1
        ? [distillation({ divergence: "forward", teacher: firstView, coefficient: consistency })]
        : []),
    ],
  }),
});
