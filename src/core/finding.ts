/** What a check found wrong, in words that say what to do. */

export interface Finding {
  /** Id of the check that found it, such as "splits" or "entropy". */
  readonly check: string;
  /** An error makes every number that follows wrong or impossible; a warning makes some of them mean less than they seem to. */
  readonly severity: "error" | "warning";
  /** What is wrong, with numbers and an example. */
  readonly problem: string;
  /** Likely causes and how to fix them. */
  readonly fix: string;
}

/** What one check came to. "not measured": the run or environment has nothing that the check looks at. */
export interface CheckResult {
  readonly check: string;
  /** What it looks at, in a few words. */
  readonly title: string;
  readonly state: "passed" | "found" | "not measured";
}

/** A finding as one line. */
export const findingLine = ({ problem, fix }: Pick<Finding, "problem" | "fix">): string =>
  `${problem} ${fix}`;

export const isError = ({ severity }: Finding): boolean => severity === "error";
