/** Results of checks: `evidence.json` in the folder of each method that has been checked. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckEvidence } from "../train/check.ts";
import { paperFolder } from "./folders.ts";

/** The stored result of a check, from which the tables are made. */
export interface StoredEvidence extends CheckEvidence {
  readonly family: string;
  /** How many designs of the check have been looked at. */
  readonly attempts: number;
  /** How claim and metric read when the reported seeds were first run, where the words have changed since. */
  readonly stated?: Pick<CheckEvidence, "claim" | "metric">;
  /** Digest of the check's sources. */
  readonly check: string;
  readonly seconds: number;
  readonly commit: string;
}

export function readEvidence(id: string): StoredEvidence | undefined {
  const folder = paperFolder(id);
  const file = folder && join(folder.path, "evidence.json");
  return file && existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as StoredEvidence) : undefined;
}
