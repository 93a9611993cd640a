/** The contract of a critic, which writes a critique of a finished trajectory. */
import type { Ctx } from "./context.ts";
import type { Critique } from "./critique.ts";
import type { Random } from "./random.ts";
import type { Trajectory } from "./types.ts";

/**
 * Writes a critique of a finished trajectory; undefined where its reply could not be parsed. Such a sample is dropped,
 * never scored 0. The critic itself counts it under "judge.failures"; the caller does not.
 * @param random stream of this critique alone.
 */
export type Critiquer = (ctx: Ctx, trajectory: Trajectory, random: Random) => Promise<Critique | undefined>;
