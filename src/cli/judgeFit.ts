/** `whetstone judge --against LABELS --fit FILE`: a reward model from what people said. */
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { Labels } from "../evaluator/labels.ts";
import { fittedToLabels } from "../train/fittedJudge.ts";
import { fitProgress, requireFittedFile, writeFitted } from "./fittedFile.ts";
import { aspectLines, trialReport } from "./judgeReportLines.ts";
import { versionOfFile } from "./judges.ts";
import { labelsFrom } from "./labelSource.ts";
import { folded, type Io } from "./output.ts";

/** Flags of the command that fits. */
export interface FitFlags {
  readonly fit: string;
  readonly labels?: Labels["kind"];
}

export async function fit(what: string, { fit: file, labels: kind }: FitFlags, io: Io): Promise<void> {
  requireFittedFile(file, "--fit");
  const all = await labelsFrom(what, kind);
  const { judge, labels, heldOut, left } = await fittedToLabels(all, fitProgress(io));
  const version = versionOfFile(await writeFitted(file, judge));
  const aspects = trialReport(labels, heldOut).aspects.map(([aspect, { swap: _, ...report }]) => {
    const biases = report.biases.filter(({ name }) => name !== "position"); // it has none, by its form
    return [aspect, { ...report, biases }] as const;
  });
  io.record({
    ...{
      type: "reward model",
      file,
      version,
      against: what,
      kind: labels.kind,
      labels: labels.labels.length,
      left,
    },
    aspects: Object.fromEntries(aspects),
  });
  io.say(
    `Written: ${file}, version ${version}, fitted to ${counted(labels.labels.length, "label")}`,
    ...left.flatMap((one) =>
      folded(io, `Left out: ${counted(one.labels, "label")} about ${oneLine(one.aspect)}, as ${one.why}`),
    ),
    ...folded(io, "What it says of labels of other people and prompts than it was fitted to:"),
    ...aspectLines(aspects, labels.kind, io),
  );
}
