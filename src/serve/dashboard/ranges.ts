/** Minimum and maximum of curves between their shown points, so that no spike is lost when curves are thinned. */
import { setImmediate as others } from "node:timers/promises";
import { recent } from "../../store/recent.ts";
import type { Extremes, RunStore } from "../../store/runStore.ts";
import type { Extent, Value } from "./types.ts";

/** Iterations per cached block. */
const width = 8;
/** Iterations per read; other work gets a turn between reads. */
const atOnce = 1024;
/** Most runs whose blocks are cached; a run of 50,000 iterations with 20 metrics takes 4 MB. */
const runs = 8;

interface Span {
  readonly from: number;
  readonly until: number;
}

/** Cached blocks of a run, from its start: full blocks of every metric. */
interface Known {
  blocks: Extremes[];
  /** Number of iterations that the blocks cover. */
  until: number;
}

/**
 * Reads each run once; later calls read only new iterations, and the requested part when a page zooms in.
 *
 * @param at the shown iterations, ascending. Each range ends before the next shown iteration, to within one block.
 */
export type RangesOf = (
  run: string,
  iterations: number,
  names: readonly string[],
  at: readonly number[],
  within: Span,
) => Promise<Record<string, Extent>>;

export function curveRanges(store: Pick<RunStore, "extremes">): RangesOf {
  const known = recent<string, Known>(runs);

  async function read(run: string, wide: number, { from, until }: Span): Promise<Extremes[]> {
    const found: Extremes[] = [];
    for (let at = from; at < until; at += atOnce) {
      for (const e of await store.extremes(run, wide, { from: at, until: Math.min(until, at + atOnce) })) {
        found.push(e);
      }
      await others();
    }
    return found;
  }

  /** Blocks of the whole run. */
  async function blocks(run: string, iterations: number): Promise<readonly Extremes[]> {
    const full = iterations - (iterations % width);
    let before = known.get(run);
    // a rewound run writes its iterations again
    if (!before || before.until > full) before = { blocks: [], until: 0 };
    if (before.until < full) {
      const fresh = await read(run, width, { from: before.until, until: full });
      before = { blocks: before.blocks.concat(fresh), until: full };
      known.set(run, before);
    }
    return before.blocks.concat(await read(run, width, { from: full, until: iterations }));
  }

  return async (run, iterations, names, at, within) => {
    const span = { from: within.from, until: Math.min(within.until, iterations) };
    const each = (span.until - span.from) / Math.max(1, at.length);
    const wide = each >= width ? width : Math.max(1, Math.floor(each));
    const found = wide === width ? await blocks(run, iterations) : await read(run, wide, span);
    return folded(found, wide, names, at, span);
  };
}

function folded(
  found: readonly Extremes[],
  wide: number,
  names: readonly string[],
  at: readonly number[],
  { from, until }: Span,
): Record<string, Extent> {
  const empty = (): Value[] => new Array<Value>(at.length).fill(null);
  const extents = new Map(names.map((name) => [name, { low: empty(), high: empty() }]));
  let point = 0;
  for (const { block, name, low, high } of found) {
    const start = Math.max(block * wide, from);
    if (start >= until || (block + 1) * wide <= from) continue;
    while (point + 1 < at.length && at[point + 1]! <= start) point++;
    const extent = extents.get(name);
    if (!extent) continue;
    extent.low[point] = Math.min(low, extent.low[point] ?? low);
    extent.high[point] = Math.max(high, extent.high[point] ?? high);
  }
  return Object.fromEntries(extents);
}
