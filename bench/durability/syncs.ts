/** By the system's own calls: every acknowledgement comes after the log has been flushed to the disk. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Asked } from "./writer.ts";

export interface Syncs {
  /** Bursts of signals, each sent once all of the one before were acknowledged. */
  readonly bursts: number;
  readonly acknowledgements: number;
  /** Flushes of the log. */
  readonly flushes: number;
  /** Bursts whose first acknowledgement left with no flush since the last one of the burst before: must be 0. */
  readonly bare: number;
}

export interface SyncOptions {
  readonly where: string;
  /** For the traces. */
  readonly folder: string;
  readonly bursts: number;
  readonly size: number;
  /** The path of a log file, as strace shows it. */
  readonly log: RegExp;
  /** The database's server, where it is another process. */
  readonly server?: number;
}

const writerFile = fileURLToPath(new URL("writer.ts", import.meta.url));
const calls = ["-f", "-ttt", "-T", "-y", "-s", "32", "-e", "trace=fsync,fdatasync,write,writev"];

export async function traceSyncs(options: SyncOptions): Promise<Syncs> {
  const { where, folder, bursts, size, log, server } = options;
  const [own, theirs] = [`${folder}/writer.strace`, `${folder}/server.strace`];
  const attached =
    server === undefined
      ? undefined
      : spawn("strace", [...calls, "-o", theirs, "-p", String(server)], {
          stdio: ["ignore", "ignore", "pipe"],
        });
  if (attached) await once(attached.stderr, "data"); // "Process … attached"
  const writer = spawn("strace", [...calls, "-o", own, process.execPath, writerFile, where], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines = createInterface({ input: writer.stdout })[Symbol.asyncIterator]();
  await lines.next(); // ready
  for (let burst = 0; burst < bursts; burst++) {
    for (let i = 0; i < size; i++) {
      const asked: Asked = { signal: `${burst}/${i}`, round: burst };
      writer.stdin.write(`${JSON.stringify(asked)}\n`);
    }
    for (let i = 0; i < size; i++) await lines.next();
  }
  const closed = once(writer, "close");
  writer.stdin.end();
  await closed;
  if (attached) {
    await pause(200);
    const gone = once(attached, "close");
    attached.kill("SIGINT");
    await gone;
  }
  const flushes = eventsOf(readFileSync(attached ? theirs : own, "latin1"))
    .filter((e) => e.call !== "write" && log.test(e.path))
    .map((e) => e.end);
  const told = eventsOf(readFileSync(own, "latin1")).filter(
    (e) => e.call === "write" && e.path.startsWith("1<") && e.text.includes('{\\"signal'),
  );
  return {
    ...judged(
      told.map((e) => e.start),
      flushes,
      bursts,
      size,
    ),
    flushes: flushes.length,
  };
}

/** @param told starts of writes that acknowledge, seconds. @param flushes their ends. */
export function judged(told: readonly number[], flushes: readonly number[], bursts: number, size: number) {
  let bare = 0;
  for (let burst = 0; burst < bursts; burst++) {
    const since = burst === 0 ? 0 : (told[burst * size - 1] ?? Infinity);
    const first = told[burst * size] ?? -Infinity;
    if (!flushes.some((at) => at > since && at < first)) bare++;
  }
  return { bursts, acknowledgements: told.length, bare };
}

interface Call {
  readonly call: string;
  /** Descriptor and path, such as `5</tmp/x-wal>`. */
  readonly path: string;
  readonly text: string;
  /** Seconds since 1970. */
  readonly start: number;
  readonly end: number;
}

/** Calls that ended well, of a trace; those that another thread's lines cut in two are put together. */
export function eventsOf(trace: string): Call[] {
  const cut = new Map<string, Omit<Call, "end">>();
  const events: Call[] = [];
  for (const line of trace.split("\n")) {
    const head = /^(\d+)\s+(\d+\.\d+) (.*)$/.exec(line);
    if (!head) continue;
    const [, pid = "", time = "", rest = ""] = head;
    const begun = /^(fsync|fdatasync|write)\((\d+<[^>]*>)(.*)$/.exec(rest);
    if (begun) {
      const [, call = "", path = "", text = ""] = begun;
      const event = { call, path, text, start: Number(time) };
      const done = /= \d+ <([\d.]+)>$/.exec(text);
      if (done) events.push({ ...event, end: event.start + Number(done[1]) });
      else cut.set(pid, event);
    } else if (/^<\.\.\. (fsync|fdatasync|write) resumed>.*= \d+ </.test(rest)) {
      const event = cut.get(pid);
      if (event) events.push({ ...event, end: Number(time) });
      cut.delete(pid);
    }
  }
  return events.sort((a, b) => a.start - b.start);
}
