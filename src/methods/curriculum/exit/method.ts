import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { newColumn, newTurns } from "../../../advantage/newTurns.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { onColumn } from "../../../objective/onColumn.ts";
import { exploring, otherApproach } from "./exploring.ts";
import { improvement } from "./improvement.ts";

export const exit = method({
  id: "exit",
  family: "curriculum",
  summary: "trains single steps of improvement, from beginnings of its own attempts that still vary most",
  paper: "Bootstrapping Task Spaces for Self-Improvement",
  mechanism:
    "Every item of training is one step of improvement: a task, perhaps with the beginning of an earlier attempt. Beginnings that training discovers are kept in a buffer, each with the variance of its group's returns, and the next item is drawn from it in proportion to an exponential of that. After a group one of its attempts becomes new, deeper items. The return is the share of what was still missing that the step has gained. At test time steps are chained beyond any depth that was trained.",
  equation: [
    "R = max(0, (Q − Q_prev) / (1 − Q_prev))        Q_prev: quality of the beginning",
    "S(m) = Var over the group of R;  with probability p_s an item m ∝ exp(κ S(m) / max S), else a task",
    "A[i] = (R[i] − mean R) / std R on the step's own tokens",
  ].join("\n"),
  source:
    "returns, scores, growth and p_s = ½ from the paper and a re-implementation; the division by the largest score is ours, and so is the capacity's default of 1000. The instruction of a diverging step is a message (p_div = 0.2); advantages scaled by distance from the group's centre are left out",
  says: [otherApproach],
  options: {
    steps: { help: "turns of an item", default: 1, low: 1, whole: true },
    fromBuffer: { help: "p_s, probability of an item from the buffer", default: 0.5, low: 0, high: 1 },
    sharpness: { help: "κ, preference for items of high variance", default: 6, low: 0, high: 100 },
    diverge: {
      help: "p_div, probability that an item asks for another approach",
      default: 0.2,
      low: 0,
      high: 1,
    },
  },
  slots: (s, options) => ({
    rollout: exploring({ groupSize: s.groupSize, temperature: s.temperature, ...options }),
    feedback: improvement(),
    advantage: [groupNormalised(), newTurns()],
    objective: onColumn(clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), newColumn),
  }),
});
