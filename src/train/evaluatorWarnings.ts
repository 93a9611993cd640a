/** Warnings about judges that fail: they end no run, so that nobody would notice. */
import { counted } from "../common/text/counted.ts";
import type { RunEvent } from "./events.ts";
import type { RunState } from "./state.ts";

type Report = (event: RunEvent) => void;

/** The first problem of each evaluator, as a warning. */
export function evaluatorWarnings(report: Report): (evaluator: string, problem: string) => void {
  const warned = new Set<string>();
  return (evaluator, problem) => {
    if (warned.has(evaluator)) return;
    warned.add(evaluator);
    const message = `"${evaluator}" failed: ${problem}. Such a judgement pays nothing and is counted in judge.failures; the run goes on.`;
    report({ type: "warning", message: message.replaceAll(/\s+/g, " ").replaceAll("..", ".") });
  };
}

/** After each iteration: a warning where all of its judgements failed, at the first of such iterations in a row. */
export function lostJudgements(state: RunState, report: Report): () => void {
  const now = () => {
    const {
      "judge.calls": judge = 0,
      "verifier.calls": verifier = 0,
      "judge.failures": failures = 0,
    } = state.counters;
    return { calls: judge + verifier, failures };
  };
  let [before, lost] = [now(), false];
  return () => {
    const { calls, failures } = now();
    const [asked, failed] = [calls - before.calls, failures - before.failures];
    before = { calls, failures };
    const all = asked > 0 && failed === asked;
    if (all && !lost) {
      const message = `iteration ${state.iteration}: all ${counted(asked, "judgement")} failed, and paid nothing. The run goes on, and learns nothing from them until they are answered again.`;
      report({ type: "warning", message });
    }
    if (asked > 0) lost = all;
  };
}
