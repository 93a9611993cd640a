/** Signals on their way: gathered, tried again with growing pauses, and handed over in one go when a page is left. */
import { FeedbackError } from "./error.ts";
import { type Address, type Posted, post } from "./post.ts";
import type { Acknowledged } from "./types.ts";

export interface Patience {
  /** Milliseconds for which more is waited for before a request is sent. */
  readonly gather: number;
  /** Signals that wait at the most. */
  readonly most: number;
  /** Milliseconds for which a signal is tried. */
  readonly keepTrying: number;
}

export interface Queue {
  /** Signals are sent in the order in which they are added. @param json of the signal, its key included: sent again it is the same signal. */
  add(json: string, signal?: AbortSignal): Promise<Acknowledged>;
  /** All that waits now is delivered, or given up. Rejects with nothing: each `add` tells for itself. */
  flush(): Promise<void>;
  /** Hands all that waits to the browser, which sends it even when the page is gone. */
  leave(): void;
  readonly size: number;
}

interface Waiting {
  readonly json: string;
  readonly bytes: number;
  readonly until: number;
  /** The browser sends it even when the page is gone, and has not said what came of it. */
  left: boolean;
  /** Called once it is delivered or given up. */
  readonly whenSettled: (() => void)[];
  resolve(acknowledged: Acknowledged): void;
  reject(why: unknown): void;
}

/** What the queue does. Each function below that moves it from one state to another says so. */
type State =
  /** Nothing waits. */
  | { readonly kind: "idle" }
  /** More is gathered, or a failure is waited out. The timer sends, and gives up what was tried for long enough. */
  | { readonly kind: "pausing"; readonly timer: ReturnType<typeof setTimeout> }
  /** One request is under way. What is added meanwhile goes with the next one. */
  | { readonly kind: "sending" };

/** In one request. The inbox takes 1,000 and 1 MiB. */
const mostAtOnce = 200;
const mostBytes = 500_000;
/** Browsers keep 64 KiB of requests alive beyond their page. */
const mostLeaving = 60_000;
/** Milliseconds: timers take no longer pause. */
const longestPause = 2 ** 31 - 1;

export function queue(address: Address, { gather, most, keepTrying }: Patience): Queue {
  let state: State = { kind: "idle" };
  /** In the order in which they came. */
  const waiting = new Set<Waiting>();
  /** Requests that failed one after the other. */
  let failures = 0;
  /** Signals in the next request: fewer while one that is wrong is looked for. */
  let atOnce = mostAtOnce;

  /** idle → pausing. In every other state what was added is sent in time. */
  function begin(): void {
    if (state.kind === "idle") pause(gather);
  }

  /** idle, sending → pausing. No longer than a signal is tried: what is added meanwhile would be given up before it was sent. */
  function pause(ms: number, why?: FeedbackError): void {
    pauseUntil(Date.now() + Math.min(ms, keepTrying), why);
  }

  /** idle, sending, pausing → pausing. @param why the last request failed. */
  function pauseUntil(end: number, why?: FeedbackError): void {
    const [oldest] = waiting;
    const next = why && oldest ? Math.min(end, oldest.until) : end;
    const wake = (): void => {
      if (Date.now() >= end) sendNext();
      else {
        for (const one of waiting) if (why && Date.now() >= one.until) giveUp(one, why);
        pauseUntil(end, why);
      }
    };
    state = { kind: "pausing", timer: setTimeout(wake, Math.min(next - Date.now(), longestPause)) };
  }

  /** pausing → sending, idle */
  function hurry(): void {
    if (state.kind !== "pausing") return;
    clearTimeout(state.timer);
    sendNext();
  }

  /** pausing, sending → sending, or idle where nothing waits */
  function sendNext(): void {
    const batch = batchOf(waiting, atOnce, mostBytes);
    if (batch.length === 0) {
      state = { kind: "idle" };
      return;
    }
    state = { kind: "sending" };
    void post(address, textsOf(batch)).then((posted) => goOn(batch, posted));
  }

  /** sending → sending, pausing, idle */
  function goOn(batch: readonly Waiting[], posted: Posted): void {
    switch (posted.kind) {
      case "kept":
        acknowledge(batch, posted.signals);
        succeeded();
        sendNext();
        break;
      case "refused":
        // a list is refused whole: halves find the one that is wrong. Of a wrong key all are guilty
        if (batch.length > 1 && posted.why.status !== 401) atOnce = batch.length >> 1;
        else {
          for (const one of batch) giveUp(one, posted.why);
          succeeded();
        }
        sendNext();
        break;
      case "later":
        // those that did not fit into this request have waited as long
        for (const one of waiting) if (Date.now() + posted.afterMs >= one.until) giveUp(one, posted.why);
        pause(Math.max(posted.afterMs, backoff(failures++)), posted.why);
    }
  }

  /** A request was answered for good. */
  function succeeded(): void {
    failures = 0;
    atOnce = Math.min(mostAtOnce, 2 * atOnce);
  }

  function acknowledge(batch: readonly Waiting[], signals: readonly Acknowledged[]): void {
    for (const [i, one] of batch.entries()) settle(one, () => one.resolve(signals[i]!));
  }

  const giveUp = (one: Waiting, why: unknown): void => settle(one, () => one.reject(why));

  /** Once: a page that is left sends what is under way again, and whatever ends first counts. */
  function settle(one: Waiting, tell: () => void): void {
    if (!waiting.delete(one)) return;
    tell();
    for (const settled of one.whenSettled) settled();
  }

  return {
    get size() {
      return waiting.size;
    },
    add: (json, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (waiting.size >= most) return reject(full(most));
        const abort = (): void => giveUp(one, signal?.reason);
        const one: Waiting = {
          json,
          bytes: new TextEncoder().encode(json).length,
          until: Date.now() + keepTrying,
          left: false,
          // a signal for aborting may outlive many calls: none of them may stay on it
          whenSettled: [() => signal?.removeEventListener("abort", abort)],
          resolve,
          reject,
        };
        signal?.addEventListener("abort", abort);
        waiting.add(one);
        begin();
      }),
    async flush() {
      const settled = [...waiting].map((one) => new Promise<void>((go) => one.whenSettled.push(go)));
      hurry();
      await Promise.all(settled);
    },
    leave() {
      // what is under way as well: nobody will hear its answer, and a key makes two of it one
      const staying = [...waiting].filter((one) => !one.left && one.bytes <= mostLeaving);
      const batch = batchOf(staying, mostAtOnce, mostLeaving);
      if (batch.length === 0) return;
      for (const one of batch) one.left = true;
      void post(address, textsOf(batch), true).then((posted) => {
        for (const one of batch) one.left = false;
        if (posted.kind === "kept") acknowledge(batch, posted.signals);
      });
    },
  };
}

const textsOf = (batch: readonly Waiting[]): readonly string[] => batch.map(({ json }) => json);

/** The first ones that fit into a request; at least one. */
function batchOf(waiting: Iterable<Waiting>, most: number, mostBytes: number): readonly Waiting[] {
  const batch: Waiting[] = [];
  let bytes = 0;
  for (const one of waiting) {
    bytes += one.bytes + 1;
    if (batch.length === most || (bytes > mostBytes && batch.length > 0)) break;
    batch.push(one);
  }
  return batch;
}

/** Half a second, doubled with every failure up to half a minute, and a part of it at random, so that clients spread. */
function backoff(failures: number): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return Math.min(30_000, 500 * 2 ** failures) * (0.5 + (0.5 * random) / 2 ** 32);
}

const full = (most: number): FeedbackError =>
  new FeedbackError({
    kind: "queue_full",
    message: `${most} signals wait to be delivered already. Check that the server can be reached.`,
  });
