/** Sends malformed requests over raw sockets, with good ones in between, and says how each was taken. */
import { connect } from "node:net";
import { request as ask } from "undici";
import { type Random, randomStream } from "../../src/core/random.ts";
import type { Endpoint } from "./endpoints.ts";
import { type Malformed, malformed } from "./requests.ts";

/** A request that every server has to answer at any time, and how. */
export interface GoodRequest {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
}

export interface FuzzOptions {
  readonly port: number;
  /** What malformed requests begin as. */
  readonly endpoints: readonly Endpoint[];
  readonly good: readonly GoodRequest[];
  /** Of a server that takes artefacts over it. */
  readonly version?: string;
  readonly requests: number;
  readonly seed: number;
  /** Requests at a time. */
  readonly parallel?: number;
  /** Milliseconds after which an answer is missed. */
  readonly patience?: number;
  /** Skips the first ones, to look at one again. */
  readonly from?: number;
  progress?(done: number): void;
}

export interface FuzzResult {
  /** By what was wrong: how often each status came; "closed" where the connection was closed without one. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Requests that were neither answered nor closed. */
  readonly hangs: readonly string[];
  /** Answers of 500 and above. */
  readonly failures: readonly string[];
  /** The slowest answers, the slowest first: milliseconds from the connection to the first byte. */
  readonly slowest: readonly { readonly ms: number; readonly what: string }[];
  /** Good requests, and those that were not answered as they should be. */
  readonly good: number;
  readonly wronged: readonly string[];
}

/**
 * Milliseconds without an answer after which our side of the connection is closed. A server that was only slow takes us for
 * gone: it is asked again, and given longer.
 */
const [halfClosed, givenLonger] = [300, 2000];
/** Every so many requests a good one of each kind is made. */
const between = 50;
/** How many of the slowest answers are named. */
const mostSlow = 5;

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { port, endpoints, requests, seed, parallel = 16, patience = 20_000, from = 0, progress } = options;
  const random = randomStream(seed);
  const nth = malformed(endpoints, options.version);
  const answers = new Map<string, Map<string, number>>();
  const hangs: string[] = [];
  const failures: string[] = [];
  const wronged: string[] = [];
  let slowest: FuzzResult["slowest"] = [];
  let [next, done, good] = [from, 0, 0];

  async function one(n: number): Promise<void> {
    const request = nth(random, n);
    const send = (open: number) => sent(port, request, random.split("pauses", n), open, patience);
    const first = await send(halfClosed);
    const { status, ms } =
      first.status === "closed" && first.ms > halfClosed ? await send(givenLonger) : first;
    const slow = { ms, what: `request ${n}: ${request.what}: ${status}` };
    slowest = [...slowest, slow].sort((a, b) => b.ms - a.ms).slice(0, mostSlow);
    const counts = answers.get(request.what) ?? new Map<string, number>();
    answers.set(request.what, counts.set(status, (counts.get(status) ?? 0) + 1));
    if (status === "hang") hangs.push(`request ${n}: ${request.what}`);
    if (/^5/.test(status)) failures.push(`request ${n}: ${request.what}: ${status}`);
    if (n % between === 0) {
      for (const wrong of await goodOnes(port, options.good, n, patience))
        wronged.push(`beside request ${n}: ${wrong}`);
      good += options.good.length;
    }
    progress?.(++done);
  }
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (next < from + requests) await one(next++);
    }),
  );
  return { answers, hangs, failures, slowest, good, wronged };
}

/**
 * @param open milliseconds without an answer after which our side is closed.
 * @returns the status of the first answer, "closed", "left" or "hang", and how long it took.
 */
function sent(
  port: number,
  { pieces, leaves }: Malformed,
  random: Random,
  open: number,
  patience: number,
): Promise<{ readonly status: string; readonly ms: number }> {
  return new Promise((resolve) => {
    const began = performance.now();
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let heard = "";
    let answered: number | undefined;
    const end = (how: string): void => {
      clearTimeout(timer);
      // without lingering: a hundred thousand connections would use up the machine's ports
      socket.resetAndDestroy();
      resolve({ status: how, ms: (answered ?? performance.now()) - began });
    };
    const timer = setTimeout(() => end("hang"), patience);
    const ended = (): void => end(/^HTTP\/1\.[01] (\d{3})/.exec(heard)?.[1] ?? "closed");
    socket.on("data", (data) => {
      answered ??= performance.now();
      if (heard.length < 2000) heard += data.toString("latin1");
      // goes on for as long as somebody listens
      if (/^content-type: text\/event-stream/im.test(heard)) ended();
    });
    socket.on("error", ended);
    socket.on("close", ended);
    socket.on("end", ended);
    socket.on("connect", async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        socket.write(piece);
        if (random.below(10) === 0) await new Promise((go) => setTimeout(go, random.below(5)));
      }
      if (leaves) setTimeout(() => end("left"), random.below(10));
      // a server that waits for more is told that nothing comes
      else setTimeout(() => socket.end(), open);
    });
  });
}

/** @param n makes the session of each another. @returns what was wrong with the answers. */
async function goodOnes(
  port: number,
  good: readonly GoodRequest[],
  n: number,
  patience: number,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const { path, body, headers, status } of good) {
    try {
      const answer = await ask(`http://127.0.0.1:${port}${path}`, {
        signal: AbortSignal.timeout(patience),
        // a connection that is kept may be closed by the server just when it is used again
        reset: true,
        method: body ? "POST" : "GET",
        headers: {
          ...headers,
          ...(body && { "content-type": "application/json", "x-whetstone-session": `good-${n}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      await answer.body.dump();
      if (answer.statusCode !== status) wrong.push(`${path}: ${answer.statusCode}`);
    } catch (e) {
      wrong.push(`${path}: ${String(e)}`);
    }
  }
  return wrong;
}
