/** What the dashboard's pages ask for, as JSON; what changes comes as server-sent events. */
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { Interval } from "../../core/statistics.ts";
import type { Run, Store } from "../../store/index.ts";
import type { RunRow, RunsPage, Value } from "./types.ts";

/** Points of a curve that is no bigger than a word. */
const sparkPoints = 40;
/** Milliseconds between two looks at a store that another process writes. */
const lookEvery = 1000;

/** Routes below `/api`. @param store read only. */
export function dashboardApi(store: Store): Hono {
  const rows = rememberedRows(store);
  const api = new Hono();
  api.get("/runs", async (c) => c.json({ runs: await rows() } satisfies RunsPage));
  api.get("/runs/live", (c) =>
    streamSSE(c, async (stream) => {
      let told = "";
      while (!stream.aborted) {
        const now = JSON.stringify({ runs: await rows() } satisfies RunsPage);
        if (now !== told) await stream.writeSSE({ event: "runs", data: now });
        told = now;
        await stream.sleep(lookEvery);
      }
    }),
  );
  return api;
}

/** What was read of a run counts until the run writes again. */
function rememberedRows(store: Store): () => Promise<readonly RunRow[]> {
  let known = new Map<string, { readonly stamp: string; readonly row: RunRow }>();
  return async () => {
    const next: typeof known = new Map();
    for (const run of await store.runs()) {
      const stamp = `${run.state} ${run.seen}`;
      const before = known.get(run.id);
      next.set(run.id, before?.stamp === stamp ? before : { stamp, row: await rowOf(store, run) });
    }
    known = next;
    return [...next.values()].map(({ row }) => row);
  };
}

async function rowOf(store: Store, run: Run): Promise<RunRow> {
  const { id, name, env, method, engine, seed, state, started } = run;
  const { iterations } = await store.measured(id);
  const spark = (await store.curves(id, ["success"], sparkPoints)).map((m) => json(m.value));
  const success = await heldOut(store, id);
  const seconds = (Date.parse(run.finished ?? run.seen) - Date.parse(started)) / 1000;
  const row = { id, name, env, method, engine, seed, state, started, seconds, iterations, spark };
  return success ? { ...row, success } : row;
}

/** Success after the run, on tasks that chose nothing. */
async function heldOut(store: Store, run: string): Promise<Interval | undefined> {
  const after = (await store.evaluations(run)).filter((e) => e.when === "after" && e.mode === "sampled");
  return (after.find((e) => e.split !== "validation") ?? after[0])?.success;
}

export const json = (x: number): Value => (Number.isFinite(x) ? x : null);
