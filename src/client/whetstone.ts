/** The client of the feedback inbox: for Node, edge runtimes and browsers, without dependencies. */
import { FeedbackError } from "./error.ts";
import { onLeave } from "./page.ts";
import { queue } from "./queue.ts";
import type { Acknowledged, Circumstances, Feedback, Target } from "./types.ts";

/** Settings of {@link whetstone}. */
export interface ClientOptions {
  /** URL of `whetstone serve`, e.g. `https://whetstone.example.com`; a trailing `/v1` is removed. */
  readonly url: string;
  /** A key with the scope `feedback`, or a browser token. Not needed on the server's own machine. */
  readonly key?: string | undefined;
  /** User of signals that name no user. */
  readonly user?: string;
  readonly source?: string;
  /** Milliseconds for one request. Default 10,000. */
  readonly timeout?: number;
  /** Milliseconds for which a signal is retried before its call rejects. Default 60,000. */
  readonly keepTrying?: number;
  /** Milliseconds for which signals are gathered into one request. Default 5, in web pages 200. */
  readonly gather?: number;
  /** Most signals in the queue; further ones are rejected. Default 1,000. */
  readonly queue?: number;
  /** Default: the runtime's `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Optional fields of a call. */
export type More = Circumstances & { readonly signal?: AbortSignal };
/** The id of a response, or another target. */
export type About = string | Target;

/** A client of the feedback inbox. */
export interface Client {
  /** Each call resolves once the server has the feedback on disk. */
  readonly feedback: {
    /** `thumbs_up` and `thumbs_down` count as 1 and 0; any other name can be given a value, or none. */
    reaction(
      about: About,
      reaction: string,
      more?: More & { readonly value?: number },
    ): Promise<Acknowledged>;
    /** From 1 to 5 unless a scale is given. */
    rating(
      about: About,
      value: number,
      more?: More & { readonly scale?: [low: number, high: number]; readonly text?: string },
    ): Promise<Acknowledged>;
    comment(about: About, text: string, more?: More & { readonly value?: number }): Promise<Acknowledged>;
    critique(about: About, text: string, more?: More & { readonly value?: number }): Promise<Acknowledged>;
    /** What the reply should have been. */
    correction(about: About, text: string, more?: More): Promise<Acknowledged>;
    demonstration(about: About, text: string, more?: More): Promise<Acknowledged>;
    score(about: About, value: number, more?: More & { readonly text?: string }): Promise<Acknowledged>;
    /** The outcome, known now or weeks later. */
    outcome(about: About, value: number | boolean, more?: More): Promise<Acknowledged>;
    /** @param among in the order shown. @param best index of the better one. */
    preference(
      among: readonly About[],
      best: number,
      more?: More & { readonly value?: number },
    ): Promise<Acknowledged>;
    /** Sends feedback of any kind, in the server's format. */
    send(feedback: Feedback, more?: { readonly signal?: AbortSignal }): Promise<Acknowledged>;
  };
  /** Resolves once all queued signals are delivered or given up. */
  flush(): Promise<void>;
  /** As {@link flush}, and removes the page's event listeners. */
  close(): Promise<void>;
}

/**
 * Creates a client. Every call may reject with a FeedbackError: `refused` (with the invalid fields), `undelivered` (the server
 * could not be reached for `keepTrying`) or `queue_full`.
 * @throws FeedbackError `refused` for an invalid `url`.
 */
export function whetstone(options: ClientOptions): Client {
  const { user, source, timeout = 10_000, keepTrying = 60_000 } = options;
  const url = addressOf(options.url);
  const address = { url, key: options.key, fetch: options.fetch ?? fetch.bind(globalThis), timeout };
  const leaving = onLeave(() => line.leave());
  const line = queue(address, {
    gather: options.gather ?? (leaving.inPage ? 200 : 5),
    most: options.queue ?? 1000,
    keepTrying,
  });

  function send(
    feedback: Feedback,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Acknowledged> {
    const whole = {
      ...feedback,
      user: feedback.user ?? user,
      source: feedback.source ?? source,
      at: feedback.at ?? Date.now(),
      key: feedback.key ?? randomKey(),
    };
    const acknowledged = line.add(JSON.stringify(whole), signal);
    // a page may still add feedback after the event that it is being left
    if (leaving.hidden) line.leave();
    return acknowledged;
  }
  const give = ({ signal, ...more }: More, feedback: Feedback): Promise<Acknowledged> =>
    send({ ...more, ...feedback }, signal ? { signal } : {});

  return {
    feedback: {
      reaction: (about, reaction, more = {}) =>
        give(more, { kind: "reaction", ...targetOf(about), reaction }),
      rating: (about, value, more = {}) => give(more, { kind: "rating", ...targetOf(about), value }),
      comment: (about, text, more = {}) => give(more, { kind: "comment", ...targetOf(about), text }),
      critique: (about, text, more = {}) => give(more, { kind: "critique", ...targetOf(about), text }),
      correction: (about, text, more = {}) => give(more, { kind: "correction", ...targetOf(about), text }),
      demonstration: (about, text, more = {}) =>
        give(more, { kind: "demonstration", ...targetOf(about), text }),
      score: (about, value, more = {}) => give(more, { kind: "score", ...targetOf(about), value }),
      outcome: (about, value, more = {}) => give(more, { kind: "outcome", ...targetOf(about), value }),
      preference: (among, best, more = {}) =>
        give(more, { kind: "preference", among: among.map(targetOf), best }),
      send,
    },
    flush: () => line.flush(),
    async close() {
      leaving.end();
      await line.flush();
    },
  };
}

/** 128 random bits. `crypto.randomUUID` is missing in pages loaded over plain HTTP. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

const targetOf = (about: About): Target => (typeof about === "string" ? { response: about } : about);

function addressOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/(\/v1)?\/*$/, "");
  const message = `url: got "${url}", expected the URL of whetstone serve, such as http://localhost:8080. Correct it.`;
  throw new FeedbackError({ kind: "refused", message });
}
