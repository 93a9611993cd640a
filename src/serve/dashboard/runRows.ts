/** Runs as rows of a list, cached until a run changes. */
import { setImmediate as others } from "node:timers/promises";
import type { Interval } from "../../core/interval.ts";
import { errorOf, type Run, type RunStore } from "../../store/runStore.ts";
import { successAfter } from "../../store/successAfter.ts";
import type { RunRow, RunsChange } from "./types.ts";
import { json } from "./values.ts";

/** Points of a sparkline. */
const sparkPoints = 40;
/** Rows of the first update, which is waited for: about what a screen shows. Then more at a time. */
const [firstPart, part] = [20, 50];

export interface RunRows {
  /** Last started first. */
  all(): Promise<readonly RunRow[]>;
  of(run: Run): Promise<RunRow>;
  /**
   * For one listener: each call reads the store once and yields, in parts, the differences to what was yielded before.
   * The first call yields at least once, even without runs; other work gets a turn between parts.
   */
  changes(): () => AsyncGenerator<RunsChange>;
}

/** A cached row is valid until the run writes again or its tags change. */
export function runRows(store: RunStore): RunRows {
  const known = new Map<string, { readonly stamp: string; readonly row: RunRow }>();

  const remembered = async (run: Run, tags: readonly string[]): Promise<RunRow> => {
    const stamp = JSON.stringify([run.state, run.seen, tags]);
    const before = known.get(run.id);
    if (before?.stamp === stamp) return before.row;
    const row = await rowOf(store, run, tags);
    known.set(run.id, { stamp, row });
    return row;
  };

  async function* look(told: Map<string, RunRow>, first: boolean): AsyncGenerator<RunsChange> {
    const [runs, tags] = [await store.runs(), await store.tags()];
    const there = new Set(runs.map(({ id }) => id));
    const gone = [...told.keys()].filter((id) => !there.has(id));
    for (const id of gone) {
      told.delete(id);
      known.delete(id);
    }
    let changed: RunRow[] = [];
    let most = first ? firstPart : part;
    for (const run of runs) {
      const row = await remembered(run, tags.get(run.id) ?? []);
      if (told.get(run.id) === row) continue;
      told.set(run.id, row);
      changed.push(row);
      if (changed.length < most) continue;
      yield { changed, gone: [], total: runs.length };
      [changed, most] = [[], part];
      await others();
    }
    if (changed.length > 0 || gone.length > 0 || (first && runs.length === 0)) {
      yield { changed, gone, total: runs.length };
    }
  }

  return {
    async all() {
      const [runs, tags] = [await store.runs(), await store.tags()];
      const rows: RunRow[] = [];
      for (const run of runs) rows.push(await remembered(run, tags.get(run.id) ?? []));
      return rows;
    },
    of: async (run) => remembered(run, (await store.tags()).get(run.id) ?? []),
    changes() {
      const told = new Map<string, RunRow>();
      let first = true;
      return () => {
        const changes = look(told, first);
        first = false;
        return changes;
      };
    },
  };
}

async function rowOf(store: RunStore, run: Run, tags: readonly string[]): Promise<RunRow> {
  const { id, name, env, method, engine, seed, state, started, seen } = run;
  const { iterations } = await store.measured(id);
  const spark = (await store.curves(id, ["success"], sparkPoints)).map((m) => json(m.value));
  const success = await heldOut(store, id);
  const error = errorOf(run);
  const seconds = (Date.parse(run.finished ?? run.seen) - Date.parse(started)) / 1000;
  const row = { id, name, env, method, engine, seed, state, started, seen, seconds, iterations, spark, tags };
  return { ...row, ...(success && { success }), ...(error !== undefined && { error }) };
}

/** Success after the run, on tasks used neither for training nor for selection. */
async function heldOut(store: RunStore, run: string): Promise<Interval | undefined> {
  const all = await store.evaluations(run);
  return successAfter(all.filter((e) => e.trainedShare === 0))?.success;
}
