/** What checks found: beside src/ in the repository, beside dist/ in the package. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CheckEvidence } from "./check.ts";

export const evidenceFolder = resolve(import.meta.dirname, "..", "..", "evidence");

/** What a run of a check leaves, and what the tables are made of. */
export interface StoredEvidence extends CheckEvidence {
  readonly family: string;
  /** How often the check was edited after its first evidence, plus one. */
  readonly attempts: number;
  /** Of the check's file. */
  readonly check: string;
  readonly seconds: number;
  readonly commit: string;
}

export function readEvidence(id: string): StoredEvidence | undefined {
  const file = join(evidenceFolder, `${id}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as StoredEvidence) : undefined;
}
