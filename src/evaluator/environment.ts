/** An environment as an evaluator of attempts at its tasks. */
import type { EnvironmentEvaluator } from "../core/evaluator.ts";
import type { Environment } from "../env/environment.ts";

/**
 * The environment's `verify`, `prefer` and `critique` as the methods `score`, `compare` and `critique` of an evaluator. Any
 * error of the environment is a failure of that call. An environment without `verify` gives no scores.
 */
export function environmentEvaluator(environment: Environment): EnvironmentEvaluator {
  const { name, prefer, critique } = environment;
  return {
    name: `environment ${name}`,
    verifies: true,
    score: (attempts) =>
      unlessThrown(() =>
        Promise.all(
          attempts.map(async ({ task, trajectory }) => (await environment.verify?.(task, trajectory)) ?? {}),
        ),
      ),
    ...(prefer && {
      compare: (first, second) =>
        unlessThrown(() => prefer.call(environment, first.task, first.trajectory, second.trajectory)),
    }),
    ...(critique && {
      critique: ({ task, trajectory }, { random, right = true, detail = "hint" }) =>
        unlessThrown(() => critique.call(environment, task, trajectory, { right, detail, random })),
    }),
  };
}

/** Undefined where the environment throws: its errors have any form. */
async function unlessThrown<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}
