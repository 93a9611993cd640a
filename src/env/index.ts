/** The catalogue of environments. */
import type { Environment } from "./environment.ts";
import { facts } from "./facts/facts.ts";

export { defineEnvironment } from "./environment.ts";
export { facts };

export interface EnvironmentEntry {
  readonly name: string;
  readonly summary: string;
  make(): Environment;
}

export const environments: readonly EnvironmentEntry[] = [
  { name: "facts", summary: "a search agent over real-world facts, one to three look-ups", make: facts },
];
