/** Who may write a critique of a finished trajectory. */
import type { Ctx } from "./context.ts";
import type { Critique } from "./critique.ts";
import type { Random } from "./random.ts";
import type { Trajectory } from "./types.ts";

/**
 * Says something of a finished trajectory, or undefined where what it said could not be understood: such a sample is
 * dropped and counted under "judge.failures", never scored 0. Who drops it counts nothing; the critic has.
 * @param random this critique's own stream.
 */
export type Critic = (ctx: Ctx, trajectory: Trajectory, random: Random) => Promise<Critique | undefined>;
