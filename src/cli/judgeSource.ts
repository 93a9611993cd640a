/** What a judge scores: a file of transcripts, the trajectories of a run, or served traffic. */
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Message, Trajectory } from "../core/types.ts";
import { judgedTrajectory } from "../evaluator/judgedItem.ts";
import type { NamedItem } from "../evaluator/scoreItems.ts";
import { readTranscripts, type TranscriptLine } from "../evaluator/transcripts.ts";
import { logged } from "../exchange/logged.ts";
import { taskOfPrompt } from "../exchange/task.ts";
import { isPostgresUrl } from "../store/where.ts";
import { existingStore, requireRun } from "./runs.ts";
import { withTrafficStore } from "./trafficStore.ts";

/** Items to be scored, which can be read more than once. */
export interface JudgeSource {
  /** What makes it the same one, for work that goes on. */
  readonly identity: string;
  items(): AsyncIterable<NamedItem>;
}

/**
 * Opens what is named, and closes it after the work.
 * @param what a file of transcripts, a traffic store (a SQLite file or a postgres:// URL), or a run's id or folder.
 * @param runs the run store.
 * @throws WhetstoneError `import.invalid` for a line of a file that does not fit, `name.unknown`, `store.failed`.
 */
export async function withJudgeSource<T>(
  what: string,
  runs: string,
  work: (source: JudgeSource) => Promise<T>,
): Promise<T> {
  if (isPostgresUrl(what) || (await isSqlite(what))) {
    return await withTrafficStore(
      what,
      (production) =>
        work({
          identity: `traffic ${isPostgresUrl(what) ? production.where : what}`,
          async *items() {
            for await (const { trajectory } of logged(production)) yield* named(trajectory.id, trajectory);
          },
        }),
      "there",
    );
  }
  if (existsSync(what) && statSync(what).isFile()) {
    const text = await readFile(what, "utf8");
    const lines = readTranscripts(text, basename(what));
    return await work({
      identity: `file ${createHash("sha256").update(text).digest("hex")}`,
      async *items() {
        for (const line of lines) yield* named(line.id, trajectoryOf(line));
      },
    });
  }
  const store = await existingStore(runs);
  try {
    const run = await requireRun(store, what);
    return await work({
      identity: `run ${run.id}`,
      async *items() {
        for (const { iteration, phase, id, turns } of await store.trajectories(run.id)) {
          if (turns === 0) continue;
          const stored = await store.trajectory(run.id, { iteration, phase, id });
          if (stored) yield* named(`${iteration}/${phase}/${id}`, stored.trajectory);
        }
      },
    });
  } finally {
    await store.close();
  }
}

/** A trajectory as an item, or nothing where it failed or has no action. */
export function* named(id: string, trajectory: Trajectory): Generator<NamedItem> {
  if (trajectory.end.kind === "failed") return;
  const item = judgedTrajectory(taskOfPrompt(trajectory.turns[0]?.prompt ?? []), trajectory);
  if (item) yield { id, item };
}

/** Each message of the assistant is an action, and what stands before it the prompt. */
function trajectoryOf({ id, messages }: TranscriptLine): Trajectory {
  const turns = messages.flatMap((action: Message, at) =>
    action.role === "assistant"
      ? [
          {
            role: "agent",
            model: "policy",
            version: "logged",
            prompt: messages.slice(0, at),
            action,
            spans: {},
            stop: "eos" as const,
            rewards: {},
            ms: 0,
          },
        ]
      : [],
  );
  return {
    id,
    task: taskOfPrompt(turns[0]?.prompt ?? []).id,
    episode: id,
    role: "agent",
    turns,
    end: { kind: "done", reason: "logged" },
    origin: "logged",
  };
}

/** Whether it is a file of SQLite. */
export async function isSqlite(file: string): Promise<boolean> {
  if (!existsSync(file) || !statSync(file).isFile()) return false;
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(16), 0, 16, 0);
    return buffer.toString("latin1") === "SQLite format 3\0";
  } finally {
    await handle.close();
  }
}
