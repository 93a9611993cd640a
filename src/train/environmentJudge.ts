/** The environment as a judge of finished trajectories: its calls and failures are counted here. */
import type { Counter, Ctx } from "../core/context.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Id, Stats, Task } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";

/** A judge that fails gives no signal: its silence is neither a 0 nor a tie. */
export function environmentJudge(
  environment: Environment,
  taskOf: (id: Id) => Task,
  count: (counter: Counter, amount: number) => void,
): Pick<Ctx, "verify" | "prefer" | "critique"> {
  async function asked<T>(counter: Counter, judge: () => Promise<T> | T): Promise<T | undefined> {
    count(counter, 1);
    try {
      return await judge();
    } catch {
      count("judge.failures", 1);
      return undefined;
    }
  }

  function lacking(learnsFrom: string, ability: string, fix: string): WhetstoneError {
    return new WhetstoneError("capability.missing", {
      where: `environment ${environment.name}`,
      got: `a method that learns from ${learnsFrom}`,
      expected: `an environment with ${ability}`,
      fix,
    });
  }

  return {
    async verify(trajectory) {
      const task = taskOf(trajectory.task);
      const rewards = await asked<Stats | undefined>("verifier.calls", () =>
        environment.verify?.(task, trajectory),
      );
      return Object.entries(rewards ?? {}).map(([channel, value]) => ({
        kind: "reward",
        channel,
        value,
        about: [{ trajectory: trajectory.id }],
        source: environment.name,
      }));
    },
    async prefer(first, second) {
      const { prefer } = environment;
      if (!prefer) {
        const fix = "Choose an environment that compares trajectories, or a method that learns from rewards.";
        throw lacking("preferences", "prefer", fix);
      }
      return asked("judge.calls", () => prefer.call(environment, taskOf(first.task), first, second));
    },
    async critique(trajectory, request) {
      const { critique } = environment;
      if (!critique) {
        const fix = "Choose an environment that criticises trajectories, or a critic that is a model.";
        throw lacking("critiques", "critique", fix);
      }
      return asked("judge.calls", () =>
        critique.call(environment, taskOf(trajectory.task), trajectory, request),
      );
    },
  };
}
