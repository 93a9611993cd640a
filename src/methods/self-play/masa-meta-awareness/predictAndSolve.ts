import { moments } from "../../../advantage/returns.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback, Rollout } from "../../../core/slots.ts";
import { actionTokens, type Id, paid, succeeded, type Task, type Trajectory } from "../../../core/types.ts";
import { type Attempted, instruction, metaReward, type Prediction, predictionIn } from "./metaReward.ts";

/** Settings of {@link predictAndSolve}. */
export interface PredictAndSolveOptions {
  /** Attempts at each task. Default 8. */
  readonly groupSize?: number;
  /** Predictions of each task. Default: as many. */
  readonly predictions?: number;
  readonly temperature?: number;
  /** Iterations before predictions skip tasks and cut attempts. Default: they never do. */
  readonly warmUp?: number;
  /** Probability that a task is played though its predictions say to skip it. Default 0.1. */
  readonly recheck?: number;
  /** Attempts are cut at this multiple of the mean predicted length. Default 2. */
  readonly cutoff?: number;
}

const ending = "/predictions";
/** The group of a task's predictions. */
const predictionsOf = (task: Id): Id => `${task}${ending}`;

/** A pass rate is near 0 or 1 where it is within half of an eighth, and its predictions agree where they deviate by less than an eighth. */
const [near, agree] = [1 / 16, 1 / 8];

/** Whether predictions say that every attempt would end alike: their mean is near 0 or 1, and they agree. */
export function isForegone(predictions: readonly Prediction[]): boolean {
  const rates = predictions.flatMap(({ passRate }) => (passRate === undefined ? [] : [passRate]));
  if (rates.length === 0) return false;
  const { mean: middle, deviation } = moments(rates);
  return deviation < agree && (middle <= near || middle >= 1 - near);
}

/** What a task's predictions and attempts were. */
interface Played {
  readonly task: Task;
  readonly predicted: readonly Trajectory[];
  /** Empty where the task was skipped. */
  readonly solved: readonly Trajectory[];
}

/**
 * For each task, predictions of its own attempts and then the attempts, from the same policy: two groups. A prediction is the first turn
 * of an episode in which the policy is asked for one. After the warm-up, tasks whose predictions say that all attempts will be right, or
 * none, are skipped, and attempts are cut at a multiple of the predicted length; a cut one counts as wrong. Predictions of skipped tasks
 * have nothing to be compared with and are in no unit.
 *
 * Stats: `skipped`, share of tasks; `prediction.error`, |mean predicted − true pass rate|, mean over tasks with attempts.
 * Paper: "Meta-Awareness Enhances Reasoning Models: Self-Alignment Reinforcement Learning".
 */
export function predictAndSolve(options: PredictAndSolveOptions = {}): Rollout {
  const { warmUp = Number.POSITIVE_INFINITY } = options;
  return async (ctx) => {
    const gated = ctx.clock.iteration >= warmUp;
    const all = await Promise.all(ctx.tasks.map((task) => playedOf(ctx, task, gated, options)));
    const errors = all.flatMap(({ predicted, solved }) => {
      const rates = predicted.flatMap((t) => predictionIn(textOf(t)).passRate ?? []);
      const rate = solved.filter(succeeded).length / solved.length;
      return rates.length > 0 && solved.length > 0 ? [Math.abs(mean(rates) - rate)] : [];
    });
    return {
      trajectories: all.flatMap(({ predicted, solved }) => [...predicted, ...solved]),
      units: all.flatMap(({ task, predicted, solved }) =>
        solved.length === 0
          ? []
          : [
              ...solved.map(({ id }) => ({ id, group: task.id, members: [id] })),
              ...predicted.map(({ id }) => ({ id, group: predictionsOf(task.id), members: [id] })),
            ],
      ),
      stats: {
        skipped: all.filter(({ solved }) => solved.length === 0).length / Math.max(1, all.length),
        ...(errors.length > 0 && { "prediction.error": mean(errors) }),
      },
    };
  };
}

async function playedOf(
  ctx: Ctx,
  task: Task,
  gated: boolean,
  { groupSize = 8, predictions = groupSize, temperature, recheck = 0.1, cutoff = 2 }: PredictAndSolveOptions,
): Promise<Played> {
  const warmth = temperature === undefined ? {} : { temperature };
  const predicted = await played(predictions, (attempt) =>
    ctx.play({
      ...warmth,
      task: task.id,
      attempt: groupSize + attempt,
      advice: instruction,
      limits: { turns: 1 },
    }),
  );
  const said = predicted.map((t) => predictionIn(textOf(t)));
  const again = ctx.random.split("recheck", task.id).next() < recheck;
  if (gated && !again && isForegone(said)) return { task, predicted, solved: [] };
  const lengths = said.flatMap(({ length }) => (length === undefined ? [] : [length]));
  const longest = Math.max(1, Math.ceil(cutoff * mean(lengths)));
  const limits = gated && lengths.length > 0 ? { limits: { actionTokens: longest } } : {};
  const solved = await played(groupSize, (attempt) =>
    ctx.play({ ...warmth, ...limits, task: task.id, attempt, together: groupSize }),
  );
  return { task, predicted, solved };
}

async function played(
  count: number,
  play: (attempt: number) => Promise<readonly Trajectory[]>,
): Promise<Trajectory[]> {
  const all = await Promise.all(Array.from({ length: count }, (_, attempt) => play(attempt)));
  return all.flat().filter(({ end, turns }) => end.kind !== "failed" && turns.length > 0);
}

const textOf = ({ turns }: Trajectory): string => turns.map(({ action }) => action.content).join("\n");

/**
 * Pays attempts the environment's reward, and predictions by how well they met the attempts at their task ({@link metaReward}). What the
 * environment says of a prediction, which it takes for an attempt, is not paid.
 */
export const selfAlignment: Feedback = async (ctx, { trajectories, units }) => {
  const groupOf = new Map(units.flatMap(({ group, members }) => members.map((id) => [id, group])));
  const inUnits = trajectories.filter(({ id }) => groupOf.has(id));
  const isPrediction = ({ id }: Trajectory): boolean => groupOf.get(id)!.endsWith(ending);
  const attempts = Map.groupBy(
    inUnits.filter((t) => !isPrediction(t)),
    ({ task }) => task,
  );
  return inUnits.map((t): Signal => {
    const about = [{ trajectory: t.id }];
    if (!isPrediction(t))
      return { kind: "reward", channel: "outcome", about, value: paid(t), source: "environment" };
    const task = ctx.task(t.task);
    const own = attempts
      .get(t.task)!
      .map((a): Attempted => ({ right: succeeded(a), length: actionTokens(a), text: textOf(a) }));
    const asked = task.prompt.map(({ content }) => content).join(" ");
    const value = metaReward(predictionIn(textOf(t)), asked, own);
    return { kind: "reward", channel: "outcome", about, value, source: "attempts" };
  });
};
