import type { BenchResult } from "../../src/methods/benchResults.ts";
import type { CurriculaRun } from "./run.ts";
export const tablesOf = (runs: readonly CurriculaRun[]): string => `${runs.length}`;
export const resultsOf = (runs: readonly CurriculaRun[]): readonly BenchResult[] => (runs.length ? [] : []);
