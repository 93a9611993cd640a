/** Settings of a run's warm start and of its evaluations. */

/**
 * Settings of the imitation that a run begins with: the policy learns from demonstrations until the held-out loss stops
 * falling. Defaults are in {@link defaultWarmStart}.
 */
export interface WarmStartSettings {
  readonly learningRate: number;
  /** Factor on the step size whenever the held-out loss stops falling, and how many times it is applied. */
  readonly drop: number;
  readonly drops: number;
  /** Decoupled. Strong decay is what makes so small a model copy names instead of learning them by heart. */
  readonly weightDecay: number;
  /** Demonstrations per update. */
  readonly batch: number;
  /** Most updates. */
  readonly updates: number;
  /** Updates between measurements of the held-out loss. */
  readonly every: number;
  /** Measurements without a fall of the held-out loss until it counts as done. */
  readonly patience: number;
  /** Relative fall that counts. */
  readonly tolerance: number;
}

/** How the actions of an evaluation are chosen. */
export const evaluationModes = ["greedy", "sampled", "both"] as const;

/** How many tasks a run is measured on, how often, and how actions are chosen then. */
export interface EvaluationSettings {
  /** Held-out tasks per split and mode, before and after. */
  readonly tasks: number;
  /** Iterations between validations; 0 for none. */
  readonly every: number;
  /** Validation tasks. The best validated checkpoint is the run's result. */
  readonly validationTasks: number;
  /** With "both", every evaluation before and after is made twice, and validations sample. */
  readonly mode: (typeof evaluationModes)[number];
}

/** Defaults of the evaluations of a model with random weights, and of a chat model, which is only sampled. */
export const defaultEvaluation: EvaluationSettings = {
  tasks: 200,
  every: 10,
  validationTasks: 100,
  mode: "both",
};

/** Those of a pretrained model, whose replies take most of a short run: a fourth of them, chosen as most people use such a model. */
export const pretrainedEvaluation: EvaluationSettings = {
  tasks: 100,
  every: 10,
  validationTasks: 50,
  mode: "greedy",
};

/** Two layers learn the facts from 1,500 tasks with these. */
export const defaultWarmStart: WarmStartSettings = {
  learningRate: 3e-3,
  drop: 0.3,
  drops: 2,
  weightDecay: 1,
  batch: 64,
  updates: 800,
  every: 20,
  patience: 3,
  tolerance: 0.01,
};
