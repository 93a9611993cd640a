/** `whetstone judge --against LABELS --fit FILE`: a reward model from what people said. */
import { setImmediate } from "node:timers/promises";
import { requireNewFile } from "../common/files/files.ts";
import { counted } from "../common/text/counted.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { EnsembleRule } from "../evaluator/ensemble.ts";
import { judgeReport } from "../evaluator/judgeReport.ts";
import { type Labels, labelsByAspect } from "../evaluator/labels.ts";
import { fittedToLabels } from "../train/fittedJudge.ts";
import { writeFitted } from "./fittedFile.ts";
import { aspectLines, aspectReports, reportLines } from "./judgeAgainst.ts";
import { type JudgeFlags, judgePanel, judgeVersion } from "./judges.ts";
import { labelsFrom } from "./labelSource.ts";
import { type Io, lateProgress } from "./output.ts";

/** Flags of the command that fits. */
export interface FitFlags extends JudgeFlags {
  readonly fit: string;
  readonly labels?: Labels["kind"];
}

export async function fit(what: string, options: FitFlags, rule: EnsembleRule, io: Io): Promise<void> {
  const { fit: file } = options;
  requireNoJudge(options);
  requireNewFile(file, "--fit");
  const labels = await labelsFrom(what, options.labels);
  const progress = lateProgress(io, "Aspects", labelsByAspect(labels).length);
  const { judge, heldOut } = await fittedToLabels(labels, async () => {
    progress.one();
    await setImmediate();
  }).finally(progress.close);
  await writeFitted(file, judge);
  // as --live states it beside each score
  const version = judgeVersion(await judgePanel({ ...options, evaluator: file }, "score"), rule);
  const report = judgeReport(labels, heldOut);
  const aspects = aspectReports(labels, heldOut);
  io.record({
    type: "reward model",
    file,
    version,
    of: what,
    kind: labels.kind,
    ...report,
    ...(aspects.length > 1 && { aspects: Object.fromEntries(aspects) }),
  });
  io.say(
    `Written: ${file}, version ${version}, fitted to all ${counted(labels.labels.length, "label")}`,
    "On labels that it was not fitted to:",
    ...aspectLines(aspects, io),
    ...reportLines(report, labels, io),
  );
}

/** @throws WhetstoneError `option.range` where a judge is named too: a reward model is fitted to the labels alone. */
function requireNoJudge({ evaluator, judge, chat, calibration }: JudgeFlags): void {
  const named = [
    ["--evaluator", evaluator !== undefined],
    ["--judge", judge.length > 0],
    ["--chat", chat !== undefined],
    ["--calibration", calibration !== undefined],
  ] as const;
  const surplus = named.find(([, isThere]) => isThere);
  if (!surplus) return;
  throw new WhetstoneError("option.range", {
    where: "--fit",
    got: `it beside ${surplus[0]}`,
    expected: "no judge: it is fitted to the labels of people; --distil fits to the answers of a judge",
    fix: `Leave ${surplus[0]} out, or take --distil.`,
  });
}
