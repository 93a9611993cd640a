/** Sends malformed requests over raw sockets, with good ones in between, and says how each was taken. */
import { connect } from "node:net";
import { type Random, randomStream } from "../../src/core/random.ts";
import { type Malformed, malformed } from "./requests.ts";

export interface FuzzOptions {
  readonly port: number;
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
  /** Good requests, and those that were not answered as they should be. */
  readonly good: number;
  readonly wronged: readonly string[];
}

/** Milliseconds without an answer after which our side of the connection is closed. */
const halfClosed = 300;
/** Every so many requests a good one of each kind is made. */
const between = 50;

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { port, requests, seed, parallel = 16, patience = 20_000, from = 0, progress } = options;
  const random = randomStream(seed);
  const answers = new Map<string, Map<string, number>>();
  const hangs: string[] = [];
  const failures: string[] = [];
  const wronged: string[] = [];
  let [next, done, good] = [from, 0, 0];

  async function one(n: number): Promise<void> {
    const request = malformed(random, n);
    const status = await sent(port, request, random.split("pauses", n), patience);
    const counts = answers.get(request.what) ?? new Map<string, number>();
    answers.set(request.what, counts.set(status, (counts.get(status) ?? 0) + 1));
    if (status === "hang") hangs.push(`request ${n}: ${request.what}`);
    if (/^5/.test(status)) failures.push(`request ${n}: ${request.what}: ${status}`);
    if (n % between === 0) {
      for (const wrong of await goodOnes(port, n, patience)) wronged.push(`beside request ${n}: ${wrong}`);
      good += goodRequests.length;
    }
    progress?.(++done);
  }
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (next < from + requests) await one(next++);
    }),
  );
  return { answers, hangs, failures, good, wronged };
}

/** @returns the status of the first answer, "closed", "left" or "hang". */
function sent(
  port: number,
  { pieces, leaves }: Malformed,
  random: Random,
  patience: number,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let heard = "";
    const end = (how: string): void => {
      clearTimeout(timer);
      // without lingering: a hundred thousand connections would use up the machine's ports
      socket.resetAndDestroy();
      resolve(how);
    };
    const timer = setTimeout(() => end("hang"), patience);
    const status = (): string | undefined => /^HTTP\/1\.[01] (\d{3})/.exec(heard)?.[1];
    socket.on("data", (data) => {
      if (heard.length < 100) heard += data.toString("latin1");
    });
    socket.on("error", () => end(status() ?? "closed"));
    socket.on("close", () => end(status() ?? "closed"));
    socket.on("end", () => end(status() ?? "closed"));
    socket.on("connect", async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        socket.write(piece);
        if (random.below(10) === 0) await new Promise((go) => setTimeout(go, random.below(5)));
      }
      if (leaves) setTimeout(() => end("left"), random.below(10));
      // a server that waits for more is told that nothing comes; sooner, and it would take us for gone
      else setTimeout(() => socket.end(), halfClosed);
    });
  });
}

const json = { "content-type": "application/json" };
const goodRequests = [
  {
    path: "/v1/chat/completions",
    body: { model: "m", messages: [{ role: "user", content: "hello" }] },
    status: 200,
  },
  {
    path: "/v1/feedback",
    body: { kind: "reaction", response: "r1", reaction: "thumbs_up" },
    status: 201,
  },
  { path: "/v1/feedback?response=r1&limit=1", status: 200 },
] as const;

async function goodOnes(port: number, n: number, patience: number): Promise<string[]> {
  const wrong: string[] = [];
  for (const request of goodRequests) {
    const { path, status } = request;
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        signal: AbortSignal.timeout(patience),
        ...("body" in request
          ? {
              method: "POST",
              headers: { ...json, "x-whetstone-session": `good-${n}` },
              body: JSON.stringify(request.body),
            }
          : {}),
      });
      await answer.arrayBuffer();
      if (answer.status !== status) wrong.push(`${path}: ${answer.status}`);
    } catch (e) {
      wrong.push(`${path}: ${String(e)}`);
    }
  }
  return wrong;
}
