/** How success went on each split over a run: what its page opens with. */
import { type PairedCounts, pairedShareInterval } from "../../common/statistics/pairedShares.ts";
import type { Evaluation } from "../../store/runStore.ts";
import type { Measured, Progress } from "./types.ts";
import { range } from "./values.ts";

/** Sampled actions on held-out tasks before greedy ones, before validation, before tasks that were trained on. */
const preference = ({ split, mode, trainedShare }: Evaluation): number =>
  4 * Number(trainedShare > 0) + 2 * Number(split === "validation") + Number(mode !== "sampled");

/** One entry for each split and way of choosing actions; the most telling one first. */
export function progressOf(evaluations: readonly Evaluation[]): readonly Progress[] {
  const groups = [...Map.groupBy(evaluations, ({ split, mode }) => `${split} ${mode}`).values()];
  return groups.sort((a, b) => preference(a[0]!) - preference(b[0]!)).map(progress);
}

function progress(all: readonly Evaluation[]): Progress {
  const inTime = [...all].sort((a, b) => a.iteration - b.iteration);
  const first = inTime.find(({ when }) => when === "before") ?? inTime.find(isFirst);
  const last = inTime.findLast((e) => e.when === "after") ?? inTime.at(-1)!;
  const { split, mode, trainedShare, tasks } = last;
  return {
    split,
    mode,
    trainedShare,
    tasks,
    ...(first && { before: measured(first) }),
    ...(last !== first && { latest: measured(last), ended: last.when === "after" }),
    ...(first && last !== first && changeOf(first, last)),
    curve: inTime.map(measured),
  };
}

/** A validation of the policy before any training. */
const isFirst = ({ iteration }: Evaluation): boolean => iteration === 0;

const measured = ({ iteration, success }: Evaluation): Measured => ({ iteration, success: range(success) });

/** Pairs the tasks of both evaluations; those that failed in one of them, not by the agent's doing, are left out. */
function changeOf(first: Evaluation, last: Evaluation): Pick<Progress, "change"> {
  const counts = pairsOf(first.outcomes ?? "", last.outcomes ?? "");
  const paired = counts.both + counts.gained + counts.lost + counts.neither;
  if (paired === 0) return {};
  const { gained, lost } = counts;
  return { change: { difference: range(pairedShareInterval(counts)), gained, lost } };
}

function pairsOf(first: string, last: string): PairedCounts {
  const counts = { both: 0, gained: 0, lost: 0, neither: 0 };
  if (first.length !== last.length) return counts;
  for (let i = 0; i < first.length; i++) {
    const pair = first[i]! + last[i]!;
    if (pair === "11") counts.both++;
    else if (pair === "01") counts.gained++;
    else if (pair === "10") counts.lost++;
    else if (pair === "00") counts.neither++;
  }
  return counts;
}
