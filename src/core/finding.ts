/** Findings of checks: what is wrong and how to fix it. */

export interface Finding {
  /** Id of the check that found it, such as "splits" or "entropy". */
  readonly check: string;
  /** An error makes every later number wrong or impossible; a warning makes some of them less meaningful. */
  readonly severity: "error" | "warning";
  /** What is wrong, with numbers and an example. */
  readonly problem: string;
  /** Likely causes and how to fix them. */
  readonly fix: string;
}

/** Result of one check. "not measured": the run or environment lacks what the check examines. */
export interface CheckResult {
  readonly check: string;
  /** What it examines, in a few words. */
  readonly title: string;
  readonly state: "passed" | "found" | "not measured";
}

/** A finding as one line. */
export const findingLine = ({ problem, fix }: Pick<Finding, "problem" | "fix">): string =>
  `${problem} ${fix}`;

/** Whether a finding is an error, not only a warning. */
export const isError = ({ severity }: Finding): boolean => severity === "error";
