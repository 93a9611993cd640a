/** What people see of a comparison: how far it is, how long the rest may take, and what came of it. */
import { mean } from "../common/statistics/statistics.ts";
import {
  type ComparedRun,
  type Comparison,
  comparedOn,
  comparisonColumns,
  comparisonRows,
} from "../train/compare.ts";
import type { RunEvent } from "../train/events.ts";
import { duration, type Io, number, paint, roomOf, table } from "./output.ts";

/** A run, with what is told of its events. One that was made before returns at once, and says how long it took then. */
export type MakeRun = (onEvent: (event: RunEvent) => void) => Promise<ComparedRun>;

/** Makes a run and says a line of it, with the time that is left. */
export type ReportRun = (id: string, seed: number, make: MakeRun) => Promise<ComparedRun>;

/** The comparison on a terminal: a table for each split. */
export const comparisonTables = (c: Comparison, io: Io): string[] =>
  Object.keys(c.methods[0]?.heldOut ?? {}).flatMap((split) => {
    const rows = comparisonRows(c, split).map((cells) => cells.map((cell) => cell.replaceAll("`", "")));
    const [head, ...lines] = table(
      [`${comparedOn(c, split)}: method`, ...comparisonColumns.slice(1)],
      rows,
      roomOf(io),
    );
    return [paint(io, "bold", head!), ...lines, ""];
  });

/** Of the first run, before its pace is worth a word. */
const firstSeconds = 10;

/** @param total runs that are planned. */
export function comparisonReporter(
  total: number,
  trainedShares: NonNullable<Comparison["trainedShares"]>,
  io: Pick<Io, "error">,
): ReportRun {
  const took: number[] = [];
  let said = false;
  return async (id, seed, make) => {
    const began = performance.now();
    const elapsed = (): number => (performance.now() - began) / 1000;
    const result = await make((event) => {
      if (event.type !== "iteration" || said || took.length > 0 || elapsed() < firstSeconds) return;
      said = true;
      const whole = elapsed() + event.secondsLeft;
      io.error(`1 of ${total} is under way; about ${duration(total * whole - elapsed())} left`);
    });
    took.push(Math.max(elapsed(), result.seconds));
    const [split, success] = Object.entries(result.heldOut)[0] ?? ["", undefined];
    const on = trainedShares[split]
      ? `success on ${comparedOn({ trainedShares }, split)}`
      : "held-out success";
    const left = duration(mean(took) * (total - took.length));
    io.error(
      `${took.length} of ${total}: ${id}, seed ${seed}: ${on} ${success === undefined ? "–" : number(success)}, ${duration(result.seconds)}; about ${left} left`,
    );
    return result;
  };
}
