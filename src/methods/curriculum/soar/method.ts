import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { minibatches } from "../../../update/minibatches.ts";
import { rloo } from "../../baseline/rloo/method.ts";
import { type Lesson, progress, promoting, student } from "./progress.ts";
import { questionAndAnswer, teacher, teacherQuestion, teaching } from "./teaching.ts";

/** What `taught` is told besides a run's settings. */
export interface TaughtOptions extends Lesson {
  readonly texts: number;
  readonly maxTokens: number;
  readonly repeats: number;
  readonly threshold: number;
  readonly over: number;
  readonly teacherRate: number;
  readonly kl: number;
}

/** The loop with problems of another form. */
export const taught = (s: Settings, options: TaughtOptions): SlotChoices => ({
  rollout: teaching({ datasets: s.groupSize, temperature: s.temperature, ...options }),
  feedback: progress(options),
  advantage: leaveOneOut({ channels: ["progress"] }),
  objective: [policyGradient(), ...(options.kl > 0 ? [klPenalty({ coefficient: options.kl })] : [])],
  update: promoting(
    minibatches({
      step: { optimiser: s.optimiser, learningRate: s.learningRate, clip: s.gradientClip },
      rates: { [teacher]: options.teacherRate },
    }),
    options,
  ),
});

/** What trains the students: RLOO, paid for the teacher's answers. */
export const studentOf = (s: Settings, lesson: { readonly batch: number; readonly attempts: number }) => ({
  [student]: rloo.build({
    ...{ tasks: lesson.batch, groupSize: lesson.attempts, schedule: "constant", warmUp: 0, minibatches: 1 },
    ...{ optimiser: s.optimiser, learningRate: s.learningRate, gradientClip: s.gradientClip },
  }),
});

export const soar = method({
  id: "soar",
  family: "curriculum",
  summary: "a teacher writes problems, and is paid for what training on them gains on hard tasks",
  paper: "Teaching Models to Teach Themselves: Reasoning at the Edge of Learnability",
  mechanism:
    "The policy, a student, solves none of the hard tasks, so that practice on them gives no gradient. A teacher, which begins as a copy of it and sees no hard task, writes small datasets of questions with answers. A copy of the student is trained on each for a few iterations and thrown away; the dataset's reward is how much better that copy does on the hard tasks. The teacher is trained by policy gradient on these rewards. Where they stay above a threshold, the student itself is trained on the best dataset.",
  equation: [
    "X_k ~ teacher, k = 1..g;  θ_k = RLOO(θ, X_k);  R_k = mean over repeats of acc(θ_k; Q) − acc(θ; Q)",
    "A_k = R_k − mean of R_j, j ≠ k, on all tokens of all texts of X_k",
    "mean of R over the last 3 iterations > τ:  θ ← the best θ_k",
  ].join("\n"),
  source:
    "datasets of 64, 10 iterations of 8 problems, 64 hard tasks, leave-one-out and τ = 0.01 over 3 iterations from a review of the paper; g = 4, 2 repeats, the divergence from the first teacher and the form of the texts are ours. The student goes on from the promoted copy; a fresh one trained on all promoted datasets is left out. A promotion trains once more instead of copying weights",
  baseline: "rloo",
  defaults: { tasks: 64, groupSize: 4 },
  models: { [teacher]: { from: "policy" } },
  frozen: { reference: {} },
  students: studentOf,
  needs: ["fork"],
  says: [`${teacherQuestion}\n`],
  options: {
    texts: { help: "n, texts of a dataset, each with a problem", default: 64, low: 1, whole: true },
    maxTokens: { help: "longest problem, in tokens", default: 64, low: 1, whole: true },
    iterations: { help: "iterations of a student on a dataset", default: 10, low: 1, whole: true },
    batch: { help: "problems of one of these iterations", default: 8, low: 1, whole: true },
    attempts: { help: "attempts of a student at a problem", default: 4, low: 2, whole: true },
    repeats: { help: "students trained on each dataset", default: 2, low: 1, whole: true },
    threshold: {
      help: "τ, mean reward above which the student is promoted",
      default: 0.01,
      low: -1,
      high: 1,
    },
    over: { help: "iterations that this mean is over", default: 3, low: 1, whole: true },
    teacherRate: { help: "the teacher's step size, as a multiple of the student's", default: 1, low: 0 },
    kl: { help: "weight of the divergence from the first teacher", default: 0.001, low: 0, high: 100 },
  },
  slots: (s, options) => taught(s, { ...options, read: questionAndAnswer }),
});
