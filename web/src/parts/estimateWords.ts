import type { Diagnostics } from "../../../src/offpolicy/diagnostics.ts";
import { digits, percent } from "./words.ts";

/** From this p on, a mean weight is 1 as far as anybody can tell. */
const chance = 0.05;

/** @param unit what the traffic is split by. */
export function sayDiagnostics(
  d: Pick<Diagnostics, "clusters" | "effective" | "heaviest" | "unsupported" | "meanWeightP">,
  unit: string,
): string {
  const sample = `${d.clusters} ${unit}${d.clusters === 1 ? "" : "s"} with a reward, which weigh as much as ${digits(d.effective)} equal one${d.effective === 1 ? "" : "s"}`;
  const heaviest = `the heaviest carries ${percent(d.heaviest)}`;
  const missing = d.meanWeightP < chance && d.unsupported > 0;
  const overlap = missing
    ? `about ${percent(d.unsupported)} of what it does was never logged`
    : "nothing that it does seems to be missing from the log";
  return `${sample} (${heaviest}); ${overlap}.`;
}
