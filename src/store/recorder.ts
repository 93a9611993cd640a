/** Group commit: everything that arrives during a transaction is written by the next one. */

import { isWhetstoneError, messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { requireStorable, weightOf } from "./served.ts";
import type { Recorder, RecorderState, TrafficStore, Write, Written } from "./trafficStore.ts";

/** Settings of {@link recorder}. */
export interface RecorderOptions {
  /** Milliseconds that traffic may wait to be batched, at most 100. Signals do not wait. Default 50. */
  readonly delay?: number;
  /** Most queued responses; further ones are lost and counted. Default 10,000. */
  readonly limit?: number;
  /** Most characters and tokens of all queued responses. Default 64 million. */
  readonly characters?: number;
  /** Called with one line when writing fails or traffic is lost, and one when writing resumes. */
  readonly log?: Log;
}

/** Entries that are written together or not at all. */
interface Waiting {
  readonly entries: readonly Write[];
  /** Characters, roughly. */
  readonly size: number;
  /** When it came, by `performance.now()`. */
  readonly since: number;
  /** Absent: no caller waits for it, and it is retried until it is written or lost. */
  readonly answer?: { resolve(written: readonly Written[]): void; reject(e: unknown): void };
}

/** Most entries of one transaction; more would delay the callers that wait. */
const mostServed = 500;
const mostGiven = 2000;
/** Milliseconds beyond its delay that traffic may wait before producers are slowed down. */
const patience = 10;
/** Milliseconds between tries while nothing can be written. */
const pause = 250;

/** Creates a recorder. @param production the store; it stays open when the recorder is closed. */
export function recorder(production: Pick<TrafficStore, "write">, options: RecorderOptions = {}): Recorder {
  const delay = Math.min(100, options.delay ?? 50);
  const { limit = 10_000, characters = 64e6, log = () => {} } = options;
  /** Entries that a caller waits for. */
  const urgent: Waiting[] = [];
  /** Entries that no caller waits for. */
  const traffic = trafficQueue(limit, characters);
  const counts = counting(log);
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let inHand = 0;
  /** Arrival of the oldest traffic in the current transaction, by `performance.now()`. */
  let takenSince = Number.POSITIVE_INFINITY;
  /** Count of all traffic ever queued, and the callers that wait until a given count was attempted. */
  let queued = 0;
  const watching: { readonly upTo: number; done(): void }[] = [];

  /** Writes entries together; if the store refuses some, bisection finds them without one transaction per entry. */
  async function writeTogether(taken: readonly Waiting[]): Promise<void> {
    const entries = taken.flatMap((w) => w.entries);
    inHand = entries.length;
    try {
      const written = await production.write(entries);
      counts.note(undefined);
      if (traffic.length === 0) counts.hasRoom();
      let at = 0;
      for (const { entries: own, answer } of taken) {
        counts.add("recorded", own);
        answer?.resolve(written.slice(at, at + own.length));
        at += own.length;
      }
    } catch (e) {
      const refused = isRefused(e);
      if (refused && taken.length > 1) {
        const half = taken.length >> 1;
        for (const part of [taken.slice(0, half), taken.slice(half)]) await writeTogether(part);
        return;
      }
      if (!refused) counts.note(isWhetstoneError(e) && e.code === "store.full" ? "full" : "failed", e);
      for (const { answer, entries } of taken) {
        answer?.reject(e);
        if (refused && !answer) counts.refused(entries, e);
      }
      if (!refused) traffic.putBack(taken.filter(({ answer }) => !answer));
    } finally {
      inHand = 0;
    }
  }

  /** Whether traffic has waited long enough, or is enough for a transaction. */
  const isDue = (): boolean =>
    counts.failing === undefined &&
    (traffic.length >= mostServed || performance.now() >= traffic.oldest + delay);

  /**
   * Writes until no caller waits and no traffic is due. Every transaction takes all queued entries, but traffic alone waits
   * to be batched: otherwise a busy store would commit call by call.
   */
  async function drain(): Promise<void> {
    do {
      // traffic goes first, since signals may be about it; neither delays the other
      const served = traffic.take(mostServed);
      takenSince = served[0]?.since ?? Number.POSITIVE_INFINITY;
      await writeTogether([...served, ...takeUrgent(urgent)]);
      takenSince = Number.POSITIVE_INFINITY;
      const tried = counts.failing === undefined ? queued - traffic.length : queued;
      for (const one of watching.splice(0)) {
        if (one.upTo <= tried) one.done();
        else watching.push(one);
      }
    } while (urgent.length > 0 || watching.length > 0 || isDue());
  }

  function start(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= drain().finally(() => {
      writing = undefined;
      if (urgent.length > 0) void start();
      else if (traffic.length > 0) later();
    });
    return writing;
  }

  function later(): void {
    const waits = Math.max(0, traffic.oldest + delay - performance.now());
    timer ??= setTimeout(() => void start(), counts.failing === undefined ? waits : pause);
    timer.unref();
  }

  const enqueue = (entries: readonly Write[]): Promise<readonly Written[]> =>
    new Promise((resolve, reject) => {
      for (const entry of entries) requireStorable(entry);
      urgent.push({ entries, size: 0, since: performance.now(), answer: { resolve, reject } });
      // what comes in the same turn of the event loop goes into the same transaction
      if (writing === undefined) queueMicrotask(() => void start());
    });

  function queue(entry: Write, size: number): void {
    if (counts.isUnstorable(entry)) return;
    if (!traffic.add({ entries: [entry], size, since: performance.now() }))
      counts.overflow(entry, traffic.length);
    else {
      queued++;
      if (writing === undefined) later();
    }
  }

  const self: Recorder = {
    receive: async (signal) => (await enqueue([{ kind: "signal", signal }]))[0]!,
    receiveAll: async (signals) =>
      signals.length === 0 ? [] : await enqueue(signals.map((signal) => ({ kind: "signal", signal }))),
    record: (response) => queue({ kind: "response", response }, weightOf(response)),
    recordPassed: (call) => queue({ kind: "traced", call }, JSON.stringify(call).length),
    recordDurably: async (response) => void (await enqueue([{ kind: "response", response }])),
    tried: () =>
      new Promise((resolve) => {
        if (traffic.length === 0 && writing === undefined) return resolve();
        watching.push({ upTo: queued, done: resolve });
        void start();
      }),
    late() {
      const oldest = Math.min(takenSince, traffic.oldest);
      if (counts.failing !== undefined || performance.now() - oldest < delay + patience) return undefined;
      return self.tried();
    },
    async flush() {
      await writing;
      while (urgent.length > 0 || traffic.length > 0) {
        await start();
        if (counts.failing === undefined) continue;
        for (const { entries } of traffic.take(traffic.length)) counts.add("lost", entries);
      }
      clearTimeout(timer);
      timer = undefined;
    },
    state: () => ({
      pending: inHand + traffic.length + urgent.reduce((n, w) => n + w.entries.length, 0),
      ...counts.state(),
    }),
    close: () => self.flush(),
  };
  return self;
}

const isRefused = (e: unknown): boolean =>
  isWhetstoneError(e) && (e.code === "store.erased" || e.code === "store.refused");

/** Removes the first ones, as many as one transaction writes; at least one. */
function takeUrgent(urgent: Waiting[]): Waiting[] {
  let entries = 0;
  let n = 0;
  for (; n < urgent.length && (n === 0 || entries < mostGiven); n++) entries += urgent[n]!.entries.length;
  return urgent.splice(0, n);
}

/** Responses that no caller waits for, in the order in which they came. */
function trafficQueue(limit: number, characters: number) {
  const waiting: Waiting[] = [];
  let size = 0;
  return {
    get length() {
      return waiting.length;
    },
    /** Arrival of the oldest, by `performance.now()`; infinite where nothing waits. */
    get oldest() {
      return waiting[0]?.since ?? Number.POSITIVE_INFINITY;
    },
    /** @returns whether there was room. */
    add(one: Waiting): boolean {
      if (waiting.length >= limit || size + one.size > characters) return false;
      waiting.push(one);
      size += one.size;
      return true;
    },
    take(most: number): Waiting[] {
      const taken = waiting.splice(0, most);
      size -= sizeOf(taken);
      return taken;
    },
    putBack(some: readonly Waiting[]): void {
      waiting.unshift(...some);
      size += sizeOf(some);
    },
  };
}

/** Counts responses, and logs when writing fails, resumes or loses some. */
function counting(log: Log) {
  const total = { recorded: 0, lost: 0 };
  let failing: RecorderState["failing"];
  /** Whether traffic was lost since the queue was last empty. */
  let overflowing = false;
  return {
    get failing() {
      return failing;
    },
    add(what: keyof typeof total, entries: readonly Write[]): void {
      total[what] += responsesIn(entries);
    },
    /** @param why the error: a name that no store keeps, or a session that was erased meanwhile, which is no fault. */
    refused(entries: readonly Write[], why: unknown): void {
      total.lost += responsesIn(entries);
      if (isWhetstoneError(why) && why.code === "store.erased") return;
      log(`not recorded, since no store can keep it: ${messageOf(why)}`, { level: "error" });
    },
    /** Counts and logs an entry that no store keeps. */
    isUnstorable(entry: Write): boolean {
      try {
        requireStorable(entry);
        return false;
      } catch (e) {
        this.refused([entry], e);
        return true;
      }
    },
    overflow(entry: Write, queued: number): void {
      total.lost += responsesIn([entry]);
      if (overflowing) return;
      overflowing = true;
      log(`the queue is full with ${queued} responses; further responses are lost until it drains`, {
        level: "error",
      });
    },
    hasRoom(): void {
      overflowing = false;
    },
    /** Logs state changes only, since every retry would report the same error. @param why the error. */
    note(now: RecorderState["failing"], why?: unknown): void {
      if (now !== failing) {
        log(
          now === undefined
            ? `recording resumed; ${total.lost} responses were lost so far`
            : `the store cannot be written; responses are queued and signals are refused: ${messageOf(why)}`,
          { level: now === undefined ? "info" : "error" },
        );
      }
      failing = now;
    },
    state: () => ({ ...total, ...(failing && { failing }) }),
  };
}

const sizeOf = (some: readonly Waiting[]): number => some.reduce((n, w) => n + w.size, 0);
const responsesIn = (entries: readonly Write[]): number =>
  entries.reduce((n, entry) => n + Number(entry.kind === "response"), 0);
