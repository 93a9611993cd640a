/** What comes of advice once somebody acts on it: simulated or observed before they are asked what it was worth. */
import type { Ctx } from "../../../core/context.ts";
import type { Random } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";

export interface Aftermath {
  /** Which of the options was taken. */
  readonly taken: string;
  /** What each option that there was brings, or would have brought, step by step from the moment of the choice. */
  readonly utilities: Readonly<Record<string, readonly number[]>>;
}

/**
 * Plays on after a conversation has ended. It goes by facts, or by what a model has learnt of them, and never by what
 * was claimed in the conversation: that is what is to be found out. Undefined where it could not tell.
 * @param random this aftermath's own stream.
 */
export type World = (ctx: Ctx, trajectory: Trajectory, random: Random) => Promise<Aftermath | undefined>;
