/** A suite's results as a page. */
import type { EvaluationSuite, SuiteResult, SuiteRow } from "./suite.ts";

/** Results, with the agent and the settings. */
export interface SuiteReport extends SuiteResult {
  readonly suite: string;
  readonly agent: string;
  /** Id of the applied artefact. Absent: none. */
  readonly artefact?: string;
  readonly mode: "sampled" | "greedy";
  readonly seed: number;
  readonly seconds: number;
}

/** "62.5 %" for a share, three digits for a number, "–" if it could not be measured. */
export function shown(x: number, unit: SuiteRow["unit"]): string {
  if (!Number.isFinite(x)) return "–";
  return unit === "share" ? `${(100 * x).toFixed(1)} %` : String(Number(x.toPrecision(3)));
}

/** The cells of a row: name, value, interval, n. An infinite interval is shown as none. */
export function cellsOf({ name, unit, value }: SuiteRow): readonly [string, string, string, string] {
  const { mean, low, high, n } = value;
  const ends = Number.isFinite(mean) && Number.isFinite(low) && Number.isFinite(high);
  return [name, shown(mean, unit), ends ? `${shown(low, unit)} to ${shown(high, unit)}` : "–", String(n)];
}

export const columns = ["", "value", "95 % interval", "n"] as const;

/** Rows by section, in the order of their first appearance. */
export const sectionsOf = (
  rows: readonly SuiteRow[],
): readonly (readonly [string, readonly SuiteRow[]])[] => [...Map.groupBy(rows, (row) => row.section)];

/** The report as Markdown. */
export function suitePage(suite: EvaluationSuite, report: SuiteReport): string {
  const { agent, artefact, mode, seed, failed, rows } = report;
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    `# ${suite.name}: ${agent}`,
    "",
    `${suite.measures}${suite.paper === undefined ? "" : ` After the paper "${suite.paper}".`}`,
    "",
    `Actions ${mode}, seed ${seed}${artefact === undefined ? "" : `, told ${artefact}`}. ${failed === 0 ? "Nothing failed." : `${failed} failed episodes are left out.`}`,
    ...sectionsOf(rows).flatMap(([section, some]) => [
      "",
      `## ${section}`,
      "",
      line(columns),
      line(["---", "--:", "---", "--:"]),
      ...some.map((row) => line(cellsOf(row))),
    ]),
    "",
  ].join("\n");
}
