/** Compares runs over seeds, grouped by environment, method, engine and staleness. */
import {
  meanInterval,
  pairedInterval,
  probabilityOfImprovement,
} from "../../common/statistics/statistics.ts";
import type { Run, RunStore } from "../../store/runStore.ts";
import { computedBy } from "./computed.ts";
import type { ComparedGroup, ComparePage, RunRow } from "./types.ts";
import { json, range } from "./values.ts";

/** Most points of a learning curve. */
const curvePoints = 200;

/** @param rows of the runs, in the order chosen: the first group of an environment is its baseline. */
export async function compared(
  store: RunStore,
  chosen: readonly { run: Run; row: RunRow }[],
): Promise<ComparePage> {
  const groups: { readonly key: string; readonly runs: { run: Run; row: RunRow }[] }[] = [];
  for (const one of chosen) {
    const key = JSON.stringify([one.run.env, one.run.method, computedBy(one.run)]);
    const group = groups.find((g) => g.key === key);
    if (group) group.runs.push(one);
    else groups.push({ key, runs: [one] });
  }
  const made: ComparedGroup[] = [];
  for (const { runs } of groups) {
    const first = made.find((g) => g.env === runs[0]!.run.env);
    made.push({ ...(await groupOf(store, runs)), ...against(runs, first) });
  }
  return { groups: made };
}

async function groupOf(store: RunStore, runs: readonly { run: Run; row: RunRow }[]): Promise<ComparedGroup> {
  const { env, method } = runs[0]!.run;
  const until = Math.min(...runs.map(({ row }) => row.iterations));
  const curves = await Promise.all(
    runs.map(async ({ run }) => store.curves(run.id, ["success"], curvePoints, { from: 0, until })),
  );
  const iteration = curves[0]!.map((m) => m.iteration);
  const bands = iteration.map((_, i) => meanInterval(curves.map((curve) => curve[i]?.value ?? Number.NaN)));
  const evaluated = runs.flatMap(({ row }) => row.success?.mean ?? []);
  return {
    env,
    method,
    ...computedBy(runs[0]!.run),
    runs: runs.map(({ row: { id, name, seed, state, success } }) => ({
      id,
      name,
      seed,
      state,
      ...(success && { success }),
    })),
    iteration,
    mean: bands.map((b) => json(b.mean)),
    low: bands.map((b) => json(b.low)),
    high: bands.map((b) => json(b.high)),
    ...(evaluated.length > 0 && { heldOut: range(meanInterval(evaluated)) }),
  };
}

function against(
  runs: readonly { row: RunRow }[],
  first: ComparedGroup | undefined,
): Pick<ComparedGroup, "against"> {
  const theirs = new Map(first?.runs.flatMap(({ seed, success }) => (success ? [[seed, success.mean]] : [])));
  // of two runs with one seed the later one is used, as in the map above
  const own = new Map(
    runs.flatMap(({ row: { seed, success } }) => (success && theirs.has(seed) ? [[seed, success.mean]] : [])),
  );
  const seeds = [...own.keys()].sort((a, b) => a - b);
  if (seeds.length === 0) return {};
  const [a, b] = [seeds.map((s) => own.get(s)!), seeds.map((s) => theirs.get(s)!)];
  const difference = range(pairedInterval(a, b));
  return { against: { difference, improvement: probabilityOfImprovement(a, b), seeds } };
}
