/** Compares runs over seeds, grouped by environment, method, engine, staleness and settings: runs of a group differ in their seeds alone. */
import {
  meanInterval,
  pairedInterval,
  probabilityOfImprovement,
} from "../../common/statistics/statistics.ts";
import { isObject, type Json } from "../../core/json.ts";
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
  const alike = Map.groupBy(chosen, ({ run }) => JSON.stringify([run.env, run.method, computedBy(run)]));
  const groups = [...alike.values()].flatMap((runs) => {
    const named = runs.map((one) => ({ ...one, settings: settingsOf(one.run.config) }));
    const apart = differing(named.map(({ settings }) => settings));
    const inWords = (settings: ReadonlyMap<string, string>): string =>
      apart.map((path) => `${path.split(".").at(-1)} ${settings.get(path) ?? "unset"}`).join(", ");
    return [...Map.groupBy(named, ({ settings }) => inWords(settings))];
  });
  const made: ComparedGroup[] = [];
  for (const [differs, runs] of groups) {
    const first = made.find((g) => g.env === runs[0]!.run.env);
    made.push({
      ...(await groupOf(store, runs)),
      ...against(runs, first),
      ...(differs !== "" && { differs }),
    });
  }
  return { groups: made };
}

/** Every setting that a run's numbers depend on besides its seed, by its path. */
function settingsOf(config: Json): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const read = (value: Json | undefined, path: readonly string[]): void => {
    if (isObject(value)) for (const [name, inner] of Object.entries(value)) read(inner, [...path, name]);
    else if (value !== undefined)
      found.set(path.join("."), Array.isArray(value) ? JSON.stringify(value) : String(value));
  };
  const { seed: _, adjustable: __, ...rest } = isObject(config) ? config : {};
  read(rest, []);
  return found;
}

/** Paths at which not all have the same. */
function differing(all: readonly ReadonlyMap<string, string>[]): readonly string[] {
  const paths = new Set(all.flatMap((settings) => [...settings.keys()]));
  return [...paths].filter((path) => new Set(all.map((settings) => settings.get(path))).size > 1);
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
