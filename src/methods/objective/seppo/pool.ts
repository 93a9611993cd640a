/** Earlier selves of the policy, kept as frozen models: a uniform sample of the policies of all iterations so far. */
import type { Ctx } from "../../../core/context.ts";
import type { FrozenRule } from "../../../core/slots.ts";

const nameOf = (place: number): string => `past.${place}`;

/** What a method declares in `frozen` to have a pool of this size. Memory: so many copies of the weights. */
export const pool = (size: number): Readonly<Record<string, FrozenRule>> =>
  Object.fromEntries(Array.from({ length: size }, (_, place) => [nameOf(place), {}]));

/**
 * Puts the policy as it is into the pool: in iteration i at place i, and once the pool is full at a place drawn from
 * i + 1, if there is such a place (reservoir sampling). Doing it again in the same iteration changes nothing.
 */
export async function keepInPool(ctx: Ctx, size: number): Promise<void> {
  const { iteration } = ctx.clock;
  const place = iteration < size ? iteration : ctx.random.split("pool", "keep").below(iteration + 1);
  if (place < size) await ctx.frozen(nameOf(place)).blend(ctx.model(), 1);
}

/** The iteration's draw from what the pool holds by now: the same name whoever asks, every past policy as likely. */
export function drawnFromPool(ctx: Pick<Ctx, "clock" | "random">, size: number): string {
  return nameOf(ctx.random.split("pool", "draw").below(Math.min(size, ctx.clock.iteration + 1)));
}
