/** Calls that the gateway is answering: counts them, and records each once when it ends. */
import { messageOf } from "../../core/errors.ts";
import type { Recorder } from "../../store/trafficStore.ts";
import type { Answered } from "./answerer.ts";
import type { Assembler } from "./assemble.ts";
import { served, type Underway, withTokens } from "./record.ts";
import type { HowEnded } from "./relay.ts";
import type { Cut, Place, SessionTable } from "./sessions.ts";

/** Milliseconds that a call's record may wait until its stored session is read. */
const mostReading = 1000;

export interface RunningCallsOptions {
  readonly recorder: Pick<Recorder, "record" | "recordDurably">;
  readonly sessions: SessionTable;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** A call whose answer is requested next. */
export interface NewCall {
  readonly underway: Underway;
  readonly growing: Assembler;
  /** Whether the client waits until the call is recorded. */
  readonly durable: boolean;
  /** Resolves to whether the stored session could be read. Undefined: there is nothing to read. */
  readonly resumed: Promise<boolean> | undefined;
}

export interface RunningCall extends NewCall {
  /** The backend's response; the caller sets it once there is one. */
  answered?: Answered;
  readonly isEnded: boolean;
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
  /** Number of new trajectories, by the reason for the cut. */
  readonly trajectoryCuts: Partial<Record<Cut, number>>;
}

export interface RunningCalls {
  begin(call: NewCall): RunningCall;
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
  let running = 0;
  let draining = false;
  let drained = (): void => {};

  async function record({ underway, growing, durable, resumed, answered }: RunningCall, how: HowEnded) {
    const { id, opened, user } = underway;
    // synchronous, unless the session has to be read first
    let known = true;
    if (resumed) known = await soon(resumed);
    const result = growing.result();
    const status = how.status === "complete" && result.choices.length === 0 ? "failed" : how.status;
    const error = how.error ?? result.error;
    counts[status]++;
    const exact = answered?.tokens ? withTokens(result.choices, answered.tokens()) : result.choices;
    const choices = status === "failed" ? [] : exact;
    const ending = now();
    const theirs = { ...opened, ...(user === undefined ? {} : { user }), at: ending };
    // the session's trajectories are unknown: name one after the call, since reusing a name would merge two trajectories
    if (!known) sessions.abandon(opened);
    const place: Place = known
      ? sessions.place(theirs, choices)
      : { trajectory: `${opened.session}/${id}`, turn: 0 };
    if (place.cut && choices.length > 0) {
      trajectoryCuts[place.cut] = (trajectoryCuts[place.cut] ?? 0) + 1;
      log(`session ${opened.session}: ${place.trajectory} begins (${place.cut})`);
    }
    if (status !== "complete") log(`${id} ${status}: ${how.why ?? how.error ?? "no answer"}`);
    const response = served(underway, { ...result, choices }, place, {
      status,
      ...(error === undefined ? {} : { error }),
      at: ending,
      ...(answered?.tags ? { tags: answered.tags } : {}),
    });
    if (durable) await recorder.recordDurably(response);
    else recorder.record(response);
  }

  return {
    begin(call) {
      const { id, opened } = call.underway;
      sessions.begin(opened);
      counts.calls++;
      running++;
      let ended: Promise<void> | undefined;
      return {
        ...call,
        get isEnded() {
          return ended !== undefined;
        },
        end(how) {
          if (ended === undefined) {
            const mine = record(this, how).finally(() => {
              recording.delete(mine);
              // in case recording failed before
              sessions.abandon(opened);
              if (--running === 0 && draining) drained();
            });
            if (!call.durable) mine.catch((e: unknown) => log(`${id} was not recorded: ${messageOf(e)}`));
            if (call.resumed) recording.add(mine);
            ended = mine;
          }
          return call.durable ? ended : Promise.resolve();
        },
      };
    },
    get isDraining() {
      return draining;
    },
    state: () => ({ ...counts, running, trajectoryCuts: { ...trajectoryCuts } }),
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
