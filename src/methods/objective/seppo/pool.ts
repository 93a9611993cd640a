/** Earlier checkpoints of the policy, kept as frozen models: a uniform sample of all iterations so far. */
import type { Ctx } from "../../../core/context.ts";
import type { FrozenRule } from "../../../core/slots.ts";

const nameOf = (place: number): string => `past.${place}`;

/** The `frozen` declaration of a pool of this size. It needs memory for that many copies of the weights. */
export const pool = (size: number): Readonly<Record<string, FrozenRule>> =>
  Object.fromEntries(Array.from({ length: size }, (_, place) => [nameOf(place), {}]));

/**
 * Adds the current policy to the pool: in iteration i at index i, and once the pool is full at an index drawn from i + 1,
 * if the pool has it (reservoir sampling). Idempotent within an iteration.
 */
export async function keepInPool(ctx: Ctx, size: number): Promise<void> {
  const { iteration } = ctx.clock;
  const place = iteration < size ? iteration : ctx.random.split("pool", "keep").below(iteration + 1);
  if (place < size) await ctx.frozen(nameOf(place)).blend(ctx.model(), 1);
}

/** The iteration's draw from the pool: deterministic within an iteration, uniform over all past policies. */
export function drawnFromPool(ctx: Pick<Ctx, "clock" | "random">, size: number): string {
  return nameOf(ctx.random.split("pool", "draw").below(Math.min(size, ctx.clock.iteration + 1)));
}
