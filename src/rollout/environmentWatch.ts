/** Calls of an environment within a limit of wall-clock time. */
import { endsRun } from "../core/chat.ts";
import { messageOf } from "../core/errors.ts";

/** An error of the environment: it fails the episode and not the run. */
export class EnvironmentFailure extends Error {}

/** Runs one call of the environment; `name` is for the error. Throws only {@link EnvironmentFailure} and what ends a run. */
export type EnvironmentWatch = <T>(name: string, call: () => Promise<T>) => Promise<T>;

/** @param seconds wall-clock time of all calls together. */
export function environmentWatch(seconds: number): EnvironmentWatch {
  let left = seconds * 1000;
  return async (name, call) => {
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const give = (): void => reject(new EnvironmentFailure(`${name} took longer than ${seconds} s`));
      timer = setTimeout(give, Math.max(0, left));
    });
    try {
      return await Promise.race([Promise.resolve().then(call), late]);
    } catch (thrown) {
      if (thrown instanceof EnvironmentFailure || endsRun(thrown)) throw thrown;
      const why = messageOf(thrown);
      throw new EnvironmentFailure(why.startsWith(name) ? why : `${name} threw: ${why}`);
    } finally {
      clearTimeout(timer);
      left -= performance.now() - began;
    }
  };
}
