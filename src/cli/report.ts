/** What is printed when a run has ended: before and after, an example, where things are, what to try next. */
import { dirname, join, relative } from "node:path";
import type { HealthReport } from "../diagnose/health/health.ts";
import { openRunStore } from "../store/runStore.ts";
import type { EvaluationResult, RunEvent } from "../train/events.ts";
import { splitName } from "../train/splits.ts";
import { recordedEstimate } from "./estimateLine.ts";
import { healthLines } from "./healthLines.ts";
import { duration, type Io, interval, number, paint, roomOf, table } from "./output.ts";
import { isProject } from "./packageSource.ts";
import { transcript } from "./transcript.ts";

type Evaluated = Extract<RunEvent, { type: "evaluation" }>;

export interface RunReport {
  readonly run: string;
  readonly out: string;
  readonly store: string;
  readonly seconds: number;
  readonly tokensPerSecond: number;
  readonly evaluations: readonly Evaluated[];
  readonly health: HealthReport;
}

/** Held-out success of each split and mode, before → after. */
export function successTable(evaluations: readonly Evaluated[], width?: number): string[] {
  const key = (e: EvaluationResult): string => `${e.split} ${e.mode}`;
  const finals = evaluations.filter((e) => e.when === "after" && e.tasks > 0);
  const rows = finals.map((after) => {
    const before = evaluations.find((e) => e.when === "before" && key(e) === key(after));
    return [
      splitName(after.split, after.trainedShare),
      after.mode,
      before ? interval(before.success) : "–",
      "→",
      interval(after.success),
      before
        ? `${after.success.mean >= before.success.mean ? "+" : ""}${(100 * (after.success.mean - before.success.mean)).toFixed(1)}`
        : "",
      before ? `${number(before.turns)} → ${number(after.turns)}` : number(after.turns),
      String(after.success.n),
    ];
  });
  return rows.length === 0
    ? []
    : table(
        [
          finals.every((e) => e.trainedShare === 0) ? "held-out" : "split",
          "actions",
          "success before %",
          "",
          "after, 95 % interval",
          "points",
          "turns",
          "tasks",
        ],
        rows,
        width,
      );
}

export async function printReport(report: RunReport, io: Io): Promise<void> {
  const lines = successTable(report.evaluations, roomOf(io));
  if (lines.length > 0) io.say("", paint(io, "bold", lines[0]!), ...lines.slice(1));
  const speed = Math.round(report.tokensPerSecond);
  io.say("", `${duration(report.seconds)}${speed > 0 ? `, ${speed} tokens/s while training` : ""}`);
  await printRecorded(report, io);
  const here = (path: string): string => relative(process.cwd(), path) || ".";
  const storeFlag = here(report.store) === shownStore ? "" : ` --store ${here(report.store)}`;
  io.say(
    "",
    `Saved: ${here(report.out)} (weights, checkpoints, config), ${here(report.store)} (curves, transcripts)`,
    "",
    "Next:",
    ...table(
      ["", "", ""],
      [
        [" ", `whetstone show ${report.run}${storeFlag}`, "curves and transcripts, with credit"],
        [" ", `whetstone eval ${here(report.out)} --greedy`, "measure it again"],
        [" ", "whetstone methods", "other ways to learn"],
        ...(isProject(process.cwd()) ? [] : [[" ", "whetstone init my-agent", "an agent of your own"]]),
      ],
    ).slice(1),
    "",
    ...healthLines(report.health, io),
  );
}

/** What an iteration took, and one question before and after; a question that was learnt, where there is one. */
async function printRecorded({ out, store: file }: RunReport, io: Io): Promise<void> {
  const store = await openRunStore(file);
  try {
    const run = (await store.run(out))?.id ?? out;
    const cost = recordedEstimate(await store.metrics(run));
    if (cost !== undefined) io.say(cost);
    const [before, after] = await Promise.all([
      store.trajectories(run, { phase: "before" }),
      store.trajectories(run, { phase: "after" }),
    ]);
    const played = (id: string): string => id.replace(/^(before|after)\//, "");
    const pairs = before.flatMap((b) =>
      after.filter((a) => played(a.id) === played(b.id)).map((a) => ({ b, a })),
    );
    const pair = pairs.find(({ b, a }) => b.success === false && a.success === true) ?? pairs[0];
    if (pair === undefined) return;
    for (const [title, t] of [
      ["Before", pair.b],
      ["After training, the same question", pair.a],
    ] as const) {
      const stored = await store.trajectory(run, { iteration: t.iteration, phase: t.phase, id: t.id });
      if (stored) io.say("", paint(io, "bold", title), ...transcript(stored, io));
    }
  } finally {
    await store.close();
  }
}

/** The store in which `show` and `runs` look by themselves. */
export const shownStore = "runs/whetstone.sqlite";

/** Where runs of a folder are recorded unless told otherwise. */
export const defaultStore = (out: string): string => join(dirname(out), "whetstone.sqlite");
