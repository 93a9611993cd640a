/** What a row of the catalogue can be: a method that trains, a diagnostic that tests a law, or a benchmark that measures agents. */
import type { About } from "./about.ts";
import type { Recipe } from "./method.ts";

/** A diagnostic tests a law and trains nothing. Its mathematics is in its folder or `src/diagnose`, its measurement in its check. */
export interface Diagnostic extends About {
  readonly kind: "diagnostic";
  /** The prediction that its check tests. One sentence. */
  readonly law: string;
}

/** A benchmark measures agents with a suite and trains nothing. */
export interface Benchmark extends About {
  readonly kind: "benchmark";
  /** Name of its suite, for `whetstone eval --suite`. */
  readonly suite: string;
  /** The prediction that its check tests. One sentence. */
  readonly law: string;
}

/** A row of the catalogue. Only a method can be trained; all have a check. */
export type CatalogueEntry = Recipe | Diagnostic | Benchmark;

/** A diagnostic of the catalogue, as its author declares it. */
export const diagnostic = (about: Omit<Diagnostic, "kind">): Diagnostic => ({ ...about, kind: "diagnostic" });

/** A benchmark of the catalogue, as its author declares it. */
export const benchmark = (about: Omit<Benchmark, "kind">): Benchmark => ({ ...about, kind: "benchmark" });

/** The slots in which an entry differs from the GRPO baseline; none for what trains nothing. */
export const slotsOf = (entry: CatalogueEntry): Recipe["differs"] =>
  entry.kind === "method" ? entry.differs : [];

/** What an entry needs of a model beyond text. */
export const needsOf = (entry: CatalogueEntry): Recipe["needs"] =>
  entry.kind === "method" ? entry.needs : [];

/** The method that an entry is checked against; undefined for what is no method. */
export const baselineOf = (entry: CatalogueEntry): string | undefined =>
  entry.kind === "method" ? (entry.baseline ?? "grpo") : undefined;

/** The command that shows what an entry does, without the program's name. */
export function commandFor(entry: CatalogueEntry): string {
  if (entry.kind === "method") return `train --env facts --method ${entry.id} --out runs/${entry.id}`;
  return entry.kind === "benchmark" ? `eval --suite ${entry.suite} --player expert` : `check ${entry.id}`;
}
