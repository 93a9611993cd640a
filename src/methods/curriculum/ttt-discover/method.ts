import { entropic } from "../../../advantage/entropic.ts";
import { uniform } from "../../../data/uniform.ts";
import { method } from "../../../method/method.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { fromArchive, goOnFrom } from "./fromArchive.ts";

export const tttDiscover = method({
  id: "ttt-discover",
  family: "curriculum",
  summary:
    "trains on one problem for its best solution, from an archive of solutions, by entropic advantages",
  paper: "Learning to Discover at Test Time",
  mechanism:
    "The model goes on learning on a single problem, and what counts is the best solution found. Solutions are kept in an archive with their lineage. Each iteration a rule of upper confidence chooses some of them, a group of new solutions is written from each, and the best two of a group enter the archive. Advantages are entropic: they favour the best of a group, at a temperature of the group's own, whatever its mean.",
  equation: [
    "start: argmax Q + (max R − min R) P √(1 + T/G) / (1 + n/G)    Q: best child, P ∝ N − rank, n and T: visits",
    "q[k] ∝ exp(β R[k]),  β: KL(q ‖ uniform) = ln 2",
    "A[k] = e[k] / mean of e[j], j ≠ k, − 1        e[k] = exp(β (R[k] − max R))",
    "loss = −mean of A log π + λ KL(π ‖ π_ref)",
  ].join("\n"),
  source:
    "archive, advantages and one step per batch from the paper and its code. A solution is the text of an attempt's actions; the prompt shows it without its score, and the first solutions are written from the task alone. One training task is taken per iteration, each with its own archive. The penalty is a term of the loss in place of the advantages; λ = 0.01 is ours",
  says: [goOnFrom],
  frozen: { reference: {} },
  defaults: { tasks: 8, minibatches: 1, schedule: "constant" },
  options: {
    kl: { help: "λ, weight of the divergence from the initial policy", default: 0.01, low: 0, high: 100 },
    archive: { help: "whether attempts begin from earlier solutions, or all from the task", default: true },
  },
  slots: ({ tasks, groupSize, temperature }, { kl, archive }) => ({
    data: uniform({ tasks: 1 }),
    rollout: fromArchive({ groups: tasks, groupSize, temperature, archive }),
    advantage: entropic(),
    objective: [policyGradient(), ...(kl > 0 ? [klPenalty({ coefficient: kl, estimator: "k2" })] : [])],
  }),
});
