/** Counters of a run. A fair comparison needs equal budgets. */
export type Counter =
  | "episodes"
  | "episodes.failed"
  | "demonstrations"
  | "turns"
  | "environment.steps"
  | "generations"
  | "tokens.sampled"
  | "tokens.discarded"
  | "tokens.trained"
  | "rows.cut"
  | "verifier.calls"
  | "judge.calls"
  | "judge.failures"
  | "jobs.late"
  | "artefacts.proposed"
  | "artefacts.refused"
  /** Tasks that a piece made or chose, and that were dropped since they are held out. */
  | "tasks.refused";
