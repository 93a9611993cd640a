import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { Json } from "../../../core/json.ts";
import { type Random, shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { paid, type Task } from "../../../core/types.ts";
import { fitLogistic, oddsOf, withIntercept } from "../../../helper/logisticRegression.ts";
import { wordGrams } from "../../../helper/wordGrams.ts";

/** Settings of {@link valueChosen}. */
export interface ValueChosenOptions {
  /** m, tasks per iteration. */
  readonly tasks: number;
  /** τ, the expected reward that chosen tasks are nearest to. Default 0.5. */
  readonly target?: number;
  /** Share of the chosen tasks that are drawn at random, so that no task's value freezes. Default 0.1. */
  readonly random?: number;
  /** Where values come from: a regression on the prompt's words, or the last mean reward of the task itself. Default "model". */
  readonly value?: "model" | "last seen";
  /** Steps of the regression after each iteration. Default 20. */
  readonly passes?: number;
  /** Step size of the regression. Default 0.3. */
  readonly rate?: number;
}

/** The value model's weights or the last means, by name, and the state of the piece that draws the candidates. */
export interface ValueState<State extends Json> extends Readonly<Record<string, Json>> {
  readonly values: Readonly<Record<string, number>>;
  readonly each: State;
}

const wordsOf = ({ prompt }: Task): string[] =>
  prompt.flatMap(({ content }) => content.split(/\s+/).filter(Boolean));

/** The words, bigrams and skip-bigrams of a task's prompt, 1 for each occurrence, and a constant. */
const featuresOf = (task: Task) => {
  const words = wordsOf(task);
  return withIntercept(wordGrams(words, words.length));
};

/** V(x) in [0, 1]: the expected reward of a prompt under a regression. Without any weight it is ½. */
export const expectedReward = (task: Task, weights: Readonly<Record<string, number>>): number =>
  sigmoid(oddsOf(new Map(Object.entries(weights)), featuresOf(task)));

/**
 * The tasks among the candidates whose values are nearest to a target, and a few at random:
 *
 *     B = the m (1 − ε) candidates with the smallest |V(x) − τ|, then m ε of the rest, drawn uniformly
 *
 * Ties go to the candidate that was drawn earlier. With fewer candidates than m all are chosen.
 */
export function nearestTo(
  candidates: readonly Task[],
  value: (task: Task) => number,
  { tasks, target = 0.5, random: share = 0.1 }: ValueChosenOptions,
  random: Random,
): Task[] {
  const drawn = Math.round(share * tasks);
  const distance = new Map(candidates.map((task) => [task.id, Math.abs(value(task) - target)]));
  const order = candidates.toSorted((a, b) => distance.get(a.id)! - distance.get(b.id)!);
  const nearest = order.slice(0, tasks - drawn);
  return [...nearest, ...shuffled(order.slice(nearest.length), random).slice(0, drawn)];
}

/**
 * Prompt curriculum learning: `each` draws candidates, a small value model predicts the policy's expected reward of each from its
 * prompt, and those of intermediate difficulty are played.
 *
 *     choose:  nearest to τ among k m candidates;  after the iteration, on the m tasks that were played:
 *     min over V of Σ_i (V(x_i) − mean_j r[i, j])²
 *
 * For rewards of 0 and 1, E[A²] = p (1 − p) (n − 1) / n is largest at p = ½. The model is a logistic regression on the words,
 * bigrams and skip-bigrams of the prompt, trained on by a few steps of Adam with the squared loss. Rewards are sums over the
 * episode and belong into [0, 1]. Tasks whose episodes all failed teach nothing.
 * Paper: "Prompt Curriculum Learning for Efficient LLM Post-Training".
 */
export function valueChosen<State extends Json>(
  each: Data<State>,
  options: ValueChosenOptions,
): Data<ValueState<State>> {
  const { target = 0.5, value = "model", passes = 20, rate = 0.3 } = options;
  return {
    name: `${each.name}, by value`,
    init: (tasks) => ({ values: {}, each: each.init(tasks) }),
    async choose(ctx, tasks, state) {
      const candidates = await each.choose(ctx, tasks, state.each);
      const of = (task: Task): number =>
        value === "model" ? expectedReward(task, state.values) : (state.values[task.id] ?? target);
      const chosen = nearestTo(candidates.tasks, of, options, ctx.random.split("at random"));
      return { tasks: chosen, next: { ...state, each: candidates.next } };
    },
    async observe(ctx, annotated, state) {
      const ended = annotated.trajectories.filter(({ end }) => end.kind !== "failed");
      const means = [...Map.groupBy(ended, (t) => t.task)].map(([id, attempts]) => ({
        task: ctx.task(id),
        mean: attempts.reduce((sum, t) => sum + paid(t), 0) / attempts.length,
      }));
      const values =
        value === "model"
          ? fitLogistic(
              means.map(({ task, mean }) => ({ x: featuresOf(task), y: mean, weight: 1 })),
              new Map(Object.entries(state.values)),
              { loss: "squared", passes, learningRate: rate, strength: 1e-4 },
            )
          : new Map([
              ...Object.entries(state.values),
              ...means.map(({ task, mean }) => [task.id, mean] as const),
            ]);
      return {
        values: Object.fromEntries(values),
        each: await each.observe(ctx, annotated, state.each),
      };
    },
  };
}
