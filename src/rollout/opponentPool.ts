/** Earlier selves of the policy as opponents: which are kept, and which plays next. */
import type { Ctx } from "../core/context.ts";
import type { Json } from "../core/json.ts";
import type { FrozenRule } from "../core/slots.ts";

/** Settings of a pool of earlier selves. */
export interface PoolOptions {
  /** Earlier selves that are kept; the method declares `pastSelves(size)` among its frozen models. */
  readonly size: number;
  /** Iterations from one kept self to the next. Default 1. */
  readonly every?: number;
  /**
   * Who plays next. "latest": the newest; the pool keeps the last ones. "uniform": any, alike; the pool is a uniform sample of all that
   * were offered. "prioritised": the same pool, by how hard each is to beat, (1 − win rate)². Default "uniform".
   */
  readonly draw?: "latest" | "uniform" | "prioritised";
}

/** A kept self, as the run's memory holds it. */
export interface PastSelf {
  /** Name of the frozen model. */
  readonly name: string;
  /** Iteration before which it was the policy. */
  readonly since: number;
  /** Games of the policy against it, and how many the policy won; a draw is half a win. */
  readonly games: number;
  readonly won: number;
}

interface Pool {
  /** Selves that were offered until now. */
  readonly offered: number;
  readonly kept: readonly PastSelf[];
}

const memoryKey = "opponentPool";
const nameOf = (place: number): string => `past.${place}`;

/** The `frozen` declaration of a pool of this size: memory for that many copies of the weights. */
export const pastSelves = (size: number): Readonly<Record<string, FrozenRule>> =>
  Object.fromEntries(Array.from({ length: size }, (_, place) => [nameOf(place), {}]));

type Remembers = Pick<Ctx, "memory">;

const poolIn = ({ memory }: Remembers): Pool =>
  (memory.get(memoryKey) as Pool | undefined) ?? { offered: 0, kept: [] };
const setPool = ({ memory }: Remembers, pool: Pool): void => memory.set(memoryKey, pool as unknown as Json);

/** The selves that are kept, in the order of their places. */
export const keptSelves = (ctx: Remembers): readonly PastSelf[] => poolIn(ctx).kept;

/**
 * Keeps the current policy where an iteration is due: in the first free place; in a full pool in the oldest one's place ("latest"), or
 * by reservoir sampling ("uniform", "prioritised"). Call it once an iteration, before play.
 */
export async function keepSelf(
  ctx: Pick<Ctx, "memory" | "clock" | "random" | "frozen" | "model">,
  { size, every = 1, draw = "uniform" }: PoolOptions,
): Promise<void> {
  const { iteration } = ctx.clock;
  if (iteration % every !== 0) return;
  const { offered, kept } = poolIn(ctx);
  const place =
    kept.length < size
      ? kept.length
      : draw === "latest"
        ? offered % size
        : ctx.random.split("pool", "keep").below(offered + 1);
  if (place < size) await ctx.frozen(nameOf(place)).blend(ctx.model(), 1);
  const self: PastSelf = { name: nameOf(place), since: iteration, games: 0, won: 0 };
  setPool(ctx, { offered: offered + 1, kept: place < size ? kept.toSpliced(place, 1, self) : kept });
}

/** How likely each kept self plays next, in the order of their places; sums to 1. */
export function drawChances(kept: readonly PastSelf[], draw: PoolOptions["draw"] = "uniform"): number[] {
  const newest = Math.max(...kept.map(({ since }) => since));
  const weights = kept.map(({ since, games, won }) => {
    if (draw === "latest") return since === newest ? 1 : 0;
    // half a win and half a loss before the first game
    return draw === "uniform" ? 1 : (1 - (won + 0.5) / (games + 1)) ** 2;
  });
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / sum);
}

/** The name of the kept self that plays next. @param key tells apart what is drawn within an iteration. */
export function drawSelf(
  ctx: Pick<Ctx, "memory" | "random">,
  { draw }: Pick<PoolOptions, "draw">,
  ...key: readonly (string | number)[]
): string {
  const { kept } = poolIn(ctx);
  const chances = drawChances(kept, draw);
  let left = ctx.random.split("pool", "draw", ...key).next();
  return (kept.find((_, i) => (left -= chances[i]!) < 0) ?? kept.at(-1)!).name;
}

/** Notes how games against kept selves went: for each, 1 for a win of the policy, 1/2 for a draw, 0 for a loss. */
export function noteGames(
  ctx: Remembers,
  games: readonly { readonly name: string; readonly won: number }[],
): void {
  const { offered, kept } = poolIn(ctx);
  const after = kept.map((self) => {
    const own = games.filter(({ name }) => name === self.name);
    return {
      ...self,
      games: self.games + own.length,
      won: self.won + own.reduce((sum, { won }) => sum + won, 0),
    };
  });
  setPool(ctx, { offered, kept: after });
}
