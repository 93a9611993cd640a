import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Task, Trajectory, Turn } from "../../../core/types.ts";

/** One step of an episode, as a rule sees it. */
export interface RuleStep {
  readonly task: Task;
  readonly turn: Turn;
  /** The turn before, if there was one. */
  readonly before?: Turn;
  /** Key of the state that the action led to; absent at the end, and where the environment gives no keys. */
  readonly reached?: string;
  /** Keys of the states seen so far, including the current one. */
  readonly seen: ReadonlySet<string>;
}

/** A branch of the tree. */
export interface Rule {
  readonly name: string;
  readonly value: number;
  readonly when: (step: RuleStep) => boolean;
}

/** Settings of {@link ruleTree}. */
export interface RuleTreeOptions {
  /** Rules in order; the first that applies counts. Default: {@link webRules}. */
  readonly rules?: readonly Rule[];
  /** Weight of the rules. Default 0.3. */
  readonly weight?: number;
  /**
   * One signal per trajectory, with the mean of its steps or with their sum, which favours long episodes; or one signal
   * per turn. Default "mean".
   */
  readonly per?: "mean" | "sum" | "turn";
  /** Default "rules". */
  readonly channel?: string;
}

const says = ({ turn }: RuleStep, opening: string): boolean => turn.text?.startsWith(opening) ?? false;
const stayed = ({ turn, reached }: RuleStep): boolean => reached !== undefined && reached === turn.stateKey;
const milestones = ({ task }: RuleStep): readonly unknown[] => {
  const stated = task.metadata.milestones;
  return Array.isArray(stated) ? stated : [];
};

/**
 * Cheap signs of progress on the web. The environment's message about an action begins with "invalid", "error" or "away"
 * where that applies; the task's metadata `milestones` name its necessary states.
 *
 *     −1     no such action                                      −0.5   the same action again, and nothing changes
 *     −0.5   the page refuses it, or the site is left            +0.3   a milestone, for the first time
 *     +0.1   something changes                                   0      otherwise
 */
export const webRules: readonly Rule[] = [
  { name: "invalid", value: -1, when: (step) => says(step, "invalid") },
  {
    name: "repeated",
    value: -0.5,
    when: (step) => stayed(step) && step.before?.action.content === step.turn.action.content,
  },
  { name: "refused", value: -0.5, when: (step) => says(step, "error") || says(step, "away") },
  {
    name: "milestone",
    value: 0.3,
    when: (step) =>
      step.reached !== undefined && !step.seen.has(step.reached) && milestones(step).includes(step.reached),
  },
  { name: "changed", value: 0.1, when: (step) => step.reached !== undefined && !stayed(step) },
];

/** Value of the first rule that applies at each step, [turns]; 0 without one. */
export function ruleValues(rules: readonly Rule[], task: Task, { turns }: Trajectory): Float64Array {
  const seen = new Set<string>();
  return Float64Array.from(turns, (turn, k) => {
    if (turn.stateKey !== undefined) seen.add(turn.stateKey);
    const [before, reached] = [turns[k - 1], turns[k + 1]?.stateKey];
    const step = { task, turn, seen, ...(before && { before }), ...(reached !== undefined && { reached }) };
    return rules.find(({ when }) => when(step))?.value ?? 0;
  });
}

/**
 * A decision tree that rates every step without knowing the outcome:
 *
 *     R = weight · (1/T) Σ_t value of the first rule that applies at step t          T steps
 *
 * Failed episodes and episodes without a turn get no signal.
 * Paper: "OpAgent: Operator Agent for Web Navigation".
 */
export function ruleTree(options: RuleTreeOptions = {}): Feedback {
  const { rules = webRules, weight = 0.3, per = "mean", channel = "rules" } = options;
  const signal = (value: number, trajectory: string, turn?: number): Signal => ({
    kind: "reward",
    channel,
    about: [{ trajectory, ...(turn !== undefined && { turn }) }],
    value: weight * value,
    source: "rules",
  });
  return async (ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
      .flatMap((t) => {
        const values = ruleValues(rules, ctx.task(t.task), t);
        if (per === "turn") return Array.from(values, (value, k) => signal(value, t.id, k));
        const sum = values.reduce((a, b) => a + b, 0);
        return [signal(per === "sum" ? sum : sum / values.length, t.id)];
      });
}
