/** Calls that the gateway is answering: counts them, and records each once when it ends. */

import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ServedResponse } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import type { Recorder } from "../../store/trafficStore.ts";
import type { Answered } from "./answerer.ts";
import type { Assembler } from "./assemble.ts";
import { served, type Underway, withTokens } from "./record.ts";
import type { HowEnded } from "./relay.ts";
import type { Cut, Place, SessionTable } from "./sessions.ts";
import { usageTag, usageWith } from "./unreadUsage.ts";

/** Milliseconds that a call's record may wait until its stored session is read. */
const mostReading = 1000;

export interface RunningCallsOptions {
  readonly recorder: Pick<Recorder, "record" | "recordDurably">;
  readonly sessions: SessionTable;
  readonly now: () => number;
  readonly log: Log;
}

/** A call whose answer is requested next. */
export interface NewCall {
  readonly underway: Underway;
  readonly growing: Assembler;
  /** Whether the client waits until the call is recorded. */
  readonly durable: boolean;
  /** Resolves to whether the stored session could be read. Undefined: there is nothing to read. */
  readonly resumed: Promise<boolean> | undefined;
  /** Whether the client keeps the id that the upstream gave its answer. */
  readonly keepsId: boolean;
  /** Called once the call has ended and was counted. The first call counts. @param response as it was recorded; undefined where that failed. */
  readonly paid?: (response?: ServedResponse) => void;
}

export interface RunningCall extends NewCall {
  /** The backend's response; the caller sets it once there is one. */
  answered?: Answered;
  readonly isEnded: boolean;
  /**
   * The id under which the call is recorded, fixed when it is first asked for. Where the client keeps the upstream's id and that
   * is known and usable, it is that one; otherwise the gateway's.
   */
  id(): Id;
  /** Records how the call ended, once. Only durable calls wait for it. */
  end(how: HowEnded): Promise<void>;
}

/** Counters of a gateway since its start. */
export interface GatewayState {
  /** All calls so far. `complete`, `cut` and `failed` count those that have ended. */
  readonly calls: number;
  readonly complete: number;
  readonly cut: number;
  readonly failed: number;
  readonly running: number;
  /** The server is closing: new calls are refused. */
  readonly draining: boolean;
  /** Calls that were passed on without a record, such as embeddings. */
  readonly unrecorded: number;
  /** Calls of other paths that were passed on. */
  readonly passed: number;
  /** Number of new trajectories, by the reason for the cut. */
  readonly trajectoryCuts: Partial<Record<Cut, number>>;
}

export interface RunningCalls {
  begin(call: NewCall): RunningCall;
  /** Begins a call that is counted and not recorded. @returns ends it. */
  beginUnrecorded(): () => void;
  /** Begins a call of a path that is passed on. @returns ends it. */
  beginPassed(): () => void;
  readonly isDraining: boolean;
  state(): GatewayState;
  recorded(): Promise<void>;
  drain(): Promise<void>;
}

export function runningCalls({ recorder, sessions, now, log }: RunningCallsOptions): RunningCalls {
  const counts = { calls: 0, complete: 0, cut: 0, failed: 0 };
  const trajectoryCuts: Partial<Record<Cut, number>> = {};
  /** Records that wait until their session is read. */
  const recording = new Set<Promise<void>>();
  /** Upstreams' ids that calls are recorded under, the latest; not every upstream's ids are unique. */
  const taken = new Set<Id>();
  let [running, unrecorded, passed] = [0, 0, 0];
  let draining = false;
  let drained = (): void => {};

  function leave(): void {
    if (--running === 0 && draining) drained();
  }

  async function record(call: RunningCall, how: HowEnded) {
    const { underway, growing, durable, resumed, answered } = call;
    const { opened, user } = underway;
    const id = call.id();
    // synchronous, unless the session has to be read first
    let known = true;
    if (resumed) known = await soon(resumed);
    const result = growing.result();
    const status = how.status === "complete" && result.choices.length === 0 ? "failed" : how.status;
    const error = how.error ?? result.error;
    const unread = how.unread && usageWith(how.unread, result.usage, underway.asked.prompt);
    counts[status]++;
    const exact = answered?.tokens ? withTokens(result.choices, answered.tokens()) : result.choices;
    const choices = status === "failed" ? [] : exact;
    const ending = now();
    // never the session's name, which may be a person's and would outlive its erasure: the store knows it by this id
    const of = { response: id };
    const theirs = { ...opened, ...(user === undefined ? {} : { user }), at: ending };
    // the session's trajectories are unknown: name one after the call, since reusing a name would merge two trajectories
    if (!known) sessions.abandon(opened);
    const place: Place = known
      ? sessions.place(theirs, choices)
      : { trajectory: `${opened.session}/${id}`, turn: 0 };
    if (place.cut && choices.length > 0) {
      trajectoryCuts[place.cut] = (trajectoryCuts[place.cut] ?? 0) + 1;
      // a client that keeps one session for all that it asks would fill the log
      if (place.cut !== "unrelated") log(`${id}: a new trajectory of its session begins (${place.cut})`, of);
    }
    if (status !== "complete")
      log(`${id} ${status}: ${how.why ?? how.error ?? "no answer"}`, { level: "warning", ...of });
    const answer = { ...result, choices, ...(unread && { usage: unread.usage }) };
    const response = served({ ...underway, id }, answer, place, {
      status,
      ...(error === undefined ? {} : { error }),
      at: ending,
      tags: { ...answered?.tags, ...(unread?.isEstimated ? { [usageTag]: "estimated" } : {}) },
    });
    if (durable) await recorder.recordDurably(response);
    else recorder.record(response);
    call.paid?.(response);
  }

  return {
    begin(call) {
      const { id, opened } = call.underway;
      sessions.begin(opened);
      counts.calls++;
      running++;
      let ended: Promise<void> | undefined;
      let fixed: Id | undefined;
      return {
        ...call,
        id() {
          const theirs = call.keepsId && fixed === undefined ? call.growing.result().id : undefined;
          fixed ??= theirs !== undefined && takes(taken, theirs) ? theirs : id;
          return fixed;
        },
        get isEnded() {
          return ended !== undefined;
        },
        end(how) {
          if (ended === undefined) {
            const mine = record(this, how).finally(() => {
              recording.delete(mine);
              // in case recording failed before
              call.paid?.();
              sessions.abandon(opened);
              leave();
            });
            if (!call.durable)
              mine.catch((e: unknown) =>
                log(`${id} was not recorded: ${messageOf(e)}`, { level: "error", response: id }),
              );
            if (call.resumed) recording.add(mine);
            ended = mine;
          }
          return call.durable ? ended : Promise.resolve();
        },
      };
    },
    beginUnrecorded() {
      unrecorded++;
      running++;
      return leave;
    },
    beginPassed() {
      passed++;
      running++;
      return leave;
    },
    get isDraining() {
      return draining;
    },
    state: () => ({
      ...counts,
      running,
      draining,
      unrecorded,
      passed,
      trajectoryCuts: { ...trajectoryCuts },
    }),
    async recorded() {
      await Promise.allSettled(recording);
    },
    drain() {
      draining = true;
      if (running === 0) return Promise.resolve();
      return new Promise((resolve) => {
        drained = resolve;
      });
    },
  };
}

/** Most upstreams' ids that are remembered. */
const mostTaken = 100_000;
/** An id with room for chance: a short one may be a counter, or come twice. */
const looksUnique = /^[A-Za-z]+[_-][\w-]{16,180}$/;

/** Takes an id, once; false for one that is taken or cannot be unique. */
function takes(taken: Set<Id>, id: Id): boolean {
  if (taken.has(id) || !looksUnique.test(id)) return false;
  taken.add(id);
  if (taken.size > mostTaken) for (const oldest of taken) return taken.delete(oldest);
  return true;
}

/** Whether it could be read in time. The timer is cleared at the end, since a timer would keep the call's objects alive. */
function soon(reading: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, mostReading, false).unref();
    void reading.then((known) => {
      clearTimeout(timer);
      resolve(known);
    });
  });
}
