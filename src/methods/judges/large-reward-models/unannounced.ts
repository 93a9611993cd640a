/** A world that does not say when the goal is reached: for judges that have to see it. */
import type { Random } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { alreadyOver, type Environment, type Episode } from "../../../env/environment.ts";

/**
 * The same tasks. Where an episode of the environment would be done, its last state is shown, and one more action, whatever it is, ends it.
 * Whether it was a success is the reward `outcome` of that action, and is not shown. The environment must be able to show a state that ended.
 */
export function unannounced(environment: Environment): Environment {
  const { limits, ...rest } = environment;
  const start = async (task: Task, random: Random): Promise<Episode> => {
    const inner = await environment.start(task, random);
    let ended: boolean | undefined;
    let over = false;
    return {
      observe: () => inner.observe(),
      async act(action) {
        if (over) return alreadyOver;
        if (ended !== undefined) {
          over = true;
          return {
            rewards: { outcome: Number(ended) },
            end: { kind: "done", reason: "over", success: ended },
          };
        }
        const { end } = await inner.act(action);
        if (end?.kind === "done") {
          ended = end.success === true;
          return {};
        }
        over = end !== undefined;
        return end ? { rewards: { outcome: 0 }, end } : {};
      },
    };
  };
  const { turns } = limits;
  return { ...rest, name: `${environment.name}-unannounced`, limits: { ...limits, turns: turns + 1 }, start };
}
