/** Signals on their way: gathered, tried again with growing pauses, and handed over in one go when a page is left. */
import { FeedbackError } from "./error.ts";
import { type Address, post } from "./post.ts";
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
  /** @param json of the signal, its key included: sent again it is the same signal. */
  add(json: string, signal?: AbortSignal): Promise<Acknowledged>;
  /** All that waits now is delivered, or given up. Rejects with nothing: each `add` tells for itself. */
  flush(): Promise<void>;
  /** Hands all that waits to the browser, which sends it even when the page is gone. */
  leave(): void;
  readonly size: number;
}

interface Waiting {
  readonly json: string;
  readonly until: number;
  resolve(acknowledged: Acknowledged): void;
  reject(why: unknown): void;
}

/** In one request. The inbox takes 1,000 and 1 MiB. */
const mostAtOnce = 200;
const mostCharacters = 200_000;
/** Browsers keep 64 KiB of requests alive beyond their page. */
const mostLeaving = 60_000;

export function queue(address: Address, { gather, most, keepTrying }: Patience): Queue {
  let waiting: readonly Waiting[] = [];
  let sending: Promise<void> | undefined;
  let hurry = (): void => {};

  const drop = (gone: ReadonlySet<Waiting>): void => {
    waiting = waiting.filter((w) => !gone.has(w));
  };

  /** Ends sooner once somebody hurries it. */
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function send(): Promise<void> {
    await pause(gather);
    for (let failures = 0; waiting.length > 0; ) {
      const waits = await deliver(batchOf(waiting, mostAtOnce, mostCharacters));
      if (waits === undefined) {
        failures = 0;
        continue;
      }
      await pause(Math.max(waits, backoff(failures++)));
    }
  }

  /** @returns milliseconds to wait before another try is worth while; nothing where these are done with. */
  async function deliver(batch: readonly Waiting[]): Promise<number | undefined> {
    const posted = await post(
      address,
      batch.map((w) => w.json),
    );
    if (posted.kind === "kept") {
      drop(new Set(batch));
      for (const [i, w] of batch.entries()) w.resolve(posted.signals[i]!);
      return undefined;
    }
    if (posted.kind === "refused") {
      // a list is refused whole: halves find the one that is wrong. Of a wrong key all are guilty
      if (batch.length > 1 && posted.why.status !== 401) {
        const half = batch.length >> 1;
        const first = await deliver(batch.slice(0, half));
        return first ?? (await deliver(batch.slice(half)));
      }
      drop(new Set(batch));
      for (const w of batch) w.reject(posted.why);
      return undefined;
    }
    const late = batch.filter((w) => Date.now() + posted.afterMs >= w.until);
    drop(new Set(late));
    for (const w of late) w.reject(posted.why);
    return posted.afterMs;
  }

  return {
    get size() {
      return waiting.length;
    },
    add: (json, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (waiting.length >= most) return reject(full(most));
        const aborted = (): void => {
          drop(new Set([one]));
          one.reject(signal?.reason);
        };
        // a signal may outlive many calls: none of them may stay on it
        const done = (): void => signal?.removeEventListener("abort", aborted);
        const one: Waiting = {
          json,
          until: Date.now() + keepTrying,
          resolve(acknowledged) {
            done();
            resolve(acknowledged);
          },
          reject(why) {
            done();
            reject(why);
          },
        };
        signal?.addEventListener("abort", aborted);
        waiting = [...waiting, one];
        sending ??= send().finally(() => {
          sending = undefined;
        });
      }),
    async flush() {
      hurry();
      while (sending) await sending;
    },
    leave() {
      // what is under way as well: nobody will hear its answer, and a key makes two of it one
      const batch = batchOf(waiting, mostAtOnce, mostLeaving);
      if (batch.length === 0) return;
      void post(
        address,
        batch.map((w) => w.json),
        true,
      ).then((posted) => {
        if (posted.kind !== "kept") return;
        drop(new Set(batch));
        for (const [i, w] of batch.entries()) w.resolve(posted.signals[i]!);
      });
    },
  };
}

/** The first ones that fit into a request; at least one. */
function batchOf(waiting: readonly Waiting[], most: number, characters: number): readonly Waiting[] {
  let length = 0;
  const over = waiting.findIndex((w, i) => (length += w.json.length) > characters && i > 0);
  return waiting.slice(0, Math.min(most, over < 0 ? waiting.length : over));
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
