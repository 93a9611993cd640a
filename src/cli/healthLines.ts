/** What is wrong with a run, as `train` and `show` print it. */
import { counted } from "../common/text/counted.ts";
import { findingLine, isError } from "../core/finding.ts";
import type { HealthReport } from "../diagnose/health/health.ts";
import { folded, type Io, paint } from "./output.ts";

export function healthLines({ checks, findings }: HealthReport, io: Io): string[] {
  const ran = checks.filter(({ state }) => state !== "not measured");
  const names = `${counted(ran.length, "check")} (${ran.map(({ check }) => check).join(", ")})`;
  if (findings.length === 0) return folded(io, `No problems found in ${names}.`);
  const found = findings.flatMap((finding) => {
    const style = isError(finding) ? "red" : "yellow";
    const [first = "", ...rest] = folded(io, `${finding.severity}: ${findingLine(finding)}`);
    return [
      first.replace(finding.severity, paint(io, style, finding.severity)),
      ...rest,
      ...(finding.next === undefined ? [] : [`    ${finding.next}`]),
    ];
  });
  return [...found, ...folded(io, `${counted(findings.length, "problem")} found in ${names}.`)];
}
