/** What is wrong with a run, in words, from its curves, its evaluations and its environment. */
import { join, relative } from "node:path";
import type { CheckResult } from "../../core/finding.ts";
import { objectOf, textOf } from "../../core/json.ts";
import type { Run, RunStore } from "../../store/runStore.ts";
import { healthChecks } from "./checks.ts";
import type { HealthFinding, RunMeasurements } from "./measurements.ts";

/** What was checked about a run, and what is wrong with it. */
export interface HealthReport {
  /** Every check, in order. */
  readonly checks: readonly CheckResult[];
  readonly findings: readonly HealthFinding[];
}

export function health(run: RunMeasurements): HealthReport {
  const all = healthChecks.map(({ check, title, find }) => {
    const found = find(run);
    const state = found === undefined ? "not measured" : found.length > 0 ? "found" : "passed";
    const findings = (found ?? []).map((finding) => ({ severity: "warning" as const, ...finding, check }));
    return { result: { check, title, state } as const, findings };
  });
  return { checks: all.map(({ result }) => result), findings: all.flatMap(({ findings }) => findings) };
}

/** The catalogue's name of a run's environment, or its file as seen from here. */
function environmentOf({ env, config, folder }: Run): string {
  const modules = objectOf(objectOf(objectOf(objectOf(config)?.adjustable)?.parts)?.modules);
  const file = textOf(modules?.env);
  if (file !== undefined) return relative(process.cwd(), join(folder, file));
  // the environment stands in a config file, or in a program
  return modules ? "FILE" : env;
}

/** Points of each curve that are looked at. */
const points = 400;

/** The health of a run that is stored. */
export async function healthOf(store: RunStore, id: string): Promise<HealthReport> {
  const run = await store.run(id);
  const { names } = await store.measured(id);
  const curves: Record<string, { iteration: number[]; value: number[] }> = {};
  for (const { name, iteration, value } of await store.curves(id, names, points)) {
    const curve = (curves[name] ??= { iteration: [], value: [] });
    curve.iteration.push(iteration);
    curve.value.push(value);
  }
  return health({
    run: run?.name ?? id,
    env: run ? environmentOf(run) : "",
    curves,
    evaluations: await store.evaluations(id),
    findings: run?.findings ?? [],
  });
}
