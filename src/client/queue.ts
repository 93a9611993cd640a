/** Queue of signals: batches them, retries with exponential backoff, and sends the rest at once when a page is left. */
import { FeedbackError } from "./error.ts";
import { type Address, type Posted, post } from "./post.ts";
import type { Acknowledged } from "./types.ts";

export interface Patience {
  /** Milliseconds to gather signals before a request is sent. */
  readonly gather: number;
  /** Most signals in the queue. */
  readonly most: number;
  /** Milliseconds for which a signal is retried. */
  readonly keepTrying: number;
}

export interface Queue {
  /** Signals are sent in the order in which they are added. @param json of the signal, with its idempotency key, so that a retry does not duplicate it. */
  add(json: string, signal?: AbortSignal): Promise<Acknowledged>;
  /** Resolves once all queued signals are delivered or given up. Never rejects: each `add` reports its own error. */
  flush(): Promise<void>;
  /** Hands all queued signals to the browser, which sends them even after the page is closed. */
  leave(): void;
  readonly size: number;
}

interface Waiting {
  readonly json: string;
  readonly bytes: number;
  readonly until: number;
  /** The browser has it to send even after the page is closed, and has not reported the result. */
  left: boolean;
  /** Called once it is delivered or given up. */
  readonly whenSettled: (() => void)[];
  resolve(acknowledged: Acknowledged): void;
  reject(why: unknown): void;
}

/** State of the queue. The comment of each function below names its transitions. */
type State =
  /** Nothing waits. */
  | { readonly kind: "idle" }
  /** Gathering signals, or backing off after a failure. The timer sends, and gives up signals whose time is over. */
  | { readonly kind: "pausing"; readonly timer: ReturnType<typeof setTimeout> }
  /** One request is in progress. Signals added meanwhile go with the next one. */
  | { readonly kind: "sending" };

/** Most signals in one request. The inbox accepts 1,000 and 1 MiB. */
const mostAtOnce = 200;
const mostBytes = 500_000;
/** Most bytes sent when a page is left: browsers allow 64 KiB of `keepalive` requests. */
const mostLeaving = 60_000;
/** Longest delay of a timer, in milliseconds. */
const longestPause = 2 ** 31 - 1;

export function queue(address: Address, { gather, most, keepTrying }: Patience): Queue {
  let state: State = { kind: "idle" };
  /** In the order in which they came. */
  const waiting = new Set<Waiting>();
  /** Consecutive failed requests. */
  let failures = 0;
  /** Most signals in the next request: smaller while the queue bisects for an invalid signal. */
  let atOnce = mostAtOnce;

  /** idle → pausing. In every other state the next request already includes what was added. */
  function begin(): void {
    if (state.kind === "idle") pause(gather);
  }

  /** idle, sending → pausing. At most `keepTrying`: signals added meanwhile would otherwise be given up before they were sent. */
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
        // the server refuses a list as a whole: bisect to find the invalid signal. A wrong key (401) affects all signals
        if (batch.length > 1 && posted.why.status !== 401) atOnce = batch.length >> 1;
        else {
          for (const one of batch) giveUp(one, posted.why);
          succeeded();
        }
        sendNext();
        break;
      case "later":
        // signals that did not fit into this request have waited as long
        for (const one of waiting) if (Date.now() + posted.afterMs >= one.until) giveUp(one, posted.why);
        pause(Math.max(posted.afterMs, backoff(failures++)), posted.why);
    }
  }

  /** The request has a final response. */
  function succeeded(): void {
    failures = 0;
    atOnce = Math.min(mostAtOnce, 2 * atOnce);
  }

  function acknowledge(batch: readonly Waiting[], signals: readonly Acknowledged[]): void {
    for (const [i, one] of batch.entries()) settle(one, () => one.resolve(signals[i]!));
  }

  const giveUp = (one: Waiting, why: unknown): void => settle(one, () => one.reject(why));

  /** Settles a signal once: a page that is left sends signals in progress again, and the first result counts. */
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
          // an AbortSignal may outlive many calls: remove the listener of each
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
      // signals in progress too: their response will be lost, and the idempotency key prevents duplicates
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

/** The first signals that fit into a request; at least one. */
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

/** Half a second, doubled with every failure up to half a minute, with jitter so that clients spread out. */
function backoff(failures: number): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return Math.min(30_000, 500 * 2 ** failures) * (0.5 + (0.5 * random) / 2 ** 32);
}

const full = (most: number): FeedbackError =>
  new FeedbackError({
    kind: "queue_full",
    message: `${most} signals wait to be delivered already. Check that the server can be reached.`,
  });
