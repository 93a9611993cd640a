/** Tests the client's queue under random interleavings of callers, the page, the network and the clock. */
import assert from "node:assert/strict";
import { mock } from "node:test";
import fc from "fast-check";
import { FeedbackError } from "../../src/client/error.ts";
import { queue } from "../../src/client/queue.ts";
import type { Acknowledged } from "../../src/client/types.ts";

type Command =
  /** @see Given.next */
  | { readonly kind: "add"; readonly given: Given }
  | { readonly kind: "flush" }
  | { readonly kind: "leave" }
  /** The caller of one of the earlier signals aborts. */
  | { readonly kind: "abort"; readonly which: number }
  | { readonly kind: "tick"; readonly ms: number };

interface Given {
  /** The server rejects it, and any list that contains it. */
  readonly wrong: boolean;
  readonly characters: number;
  /** Added this many microtasks after this one is settled. */
  readonly next?: { readonly after: number; readonly given: Given } | undefined;
}

/** What becomes of a request. */
type Fate =
  | "answered"
  | "lost"
  | "answer lost"
  | "answer broken off"
  | "busy"
  | "busy for 2 s"
  | "busy for a day"
  | "no key";

/** Outcomes of the requests in order, and of all that follow. */
interface Network {
  readonly fates: readonly Fate[];
  readonly afterwards: Fate;
}

const patience = { gather: 5, most: 5, keepTrying: 20_000 };

const given: fc.Arbitrary<Given> = fc.letrec<{ given: Given }>((tie) => ({
  given: fc.record({
    wrong: weighted([false, 4], [true, 1]),
    characters: weighted([1, 8], [25_000, 3], [70_000, 1], [300_000, 1]),
    next: fc.option(fc.record({ after: fc.nat(5), given: tie("given") }), {
      nil: undefined,
      maxDepth: 4,
    }),
  }),
})).given;

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add"), given }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("flush") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("abort"), which: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("tick"), ms: fc.constantFrom(1, 5, 700, 21_000) }) },
);

const fate = weighted<Fate>(
  ["answered", 6],
  ["lost", 1],
  ["answer lost", 1],
  ["answer broken off", 1],
  ["busy", 1],
  ["busy for 2 s", 1],
  ["busy for a day", 1],
  ["no key", 1],
);
const network: fc.Arbitrary<Network> = fc.record({
  fates: fc.array(fate, { maxLength: 12 }),
  afterwards: fate,
});

function weighted<T>(...values: readonly (readonly [T, number])[]): fc.Arbitrary<T> {
  return fc.oneof(...values.map(([value, weight]) => ({ weight, arbitrary: fc.constant(value) })));
}

/** Throws the shortest interleaving that breaks a promise of the queue. @returns how often each outcome occurred. */
export async function requireAllSettled(runs: number, seed: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1e12 });
  // pauses with a random part could not be replayed
  mock.method(crypto, "getRandomValues", (into: Uint32Array) => into.fill(1 << 31));
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(command, { minLength: 1, maxLength: 12 }),
        network,
        (s, commands, network) => play(s, commands, network, count),
      ),
      { numRuns: runs, seed },
    );
  } finally {
    mock.timers.reset();
    mock.restoreAll();
  }
  return counts;
}

interface Added {
  readonly json: string;
  readonly given: Given;
  readonly until: number;
  readonly caller: AbortController;
  readonly answer: Promise<Acknowledged>;
  outcome?: { readonly acknowledged: Acknowledged } | { readonly why: unknown };
}

async function play(
  s: fc.Scheduler,
  commands: readonly Command[],
  network: Network,
  count: (what: string) => void,
): Promise<void> {
  const { server, fetch, wrong } = inbox(s, network, count);
  const line = queue({ url: "http://inbox", fetch, timeout: 1e6 }, patience);
  const added: Added[] = [];
  const flushed: Promise<void>[] = [];
  let flushing = 0;

  function add(given: Given): void {
    const json = JSON.stringify({
      key: `k${added.length}`,
      wrong: given.wrong,
      text: "é".repeat(given.characters / 2),
    });
    const caller = new AbortController();
    const before = line.size;
    const answer = line.add(json, caller.signal);
    const one: Added = { json, given, until: Date.now() + patience.keepTrying, caller, answer };
    added.push(one);
    if (line.size !== Math.min(patience.most, before + 1)) wrong.push(`${line.size} wait`);
    answer.then(
      (acknowledged) => settled(one, { acknowledged }),
      (why: unknown) => settled(one, { why }),
    );
  }

  function settled(one: Added, outcome: NonNullable<Added["outcome"]>): void {
    one.outcome = outcome;
    count(`signal ${"why" in outcome ? `given up (${reasonOf(outcome.why)})` : "acknowledged"}`);
    if ("why" in outcome && !isReason(outcome.why, one)) wrong.push(`given up: ${outcome.why}`);
    const { next } = one.given;
    if (next) void microtasks(next.after).then(() => add(next.given));
  }

  function flush(): void {
    const before = [...added];
    flushing++;
    flushed.push(
      line.flush().then(() => {
        flushing--;
        if (!before.every(({ outcome }) => outcome)) wrong.push("flushed before all was settled");
      }),
    );
  }

  async function run(command: Command): Promise<void> {
    count(command.kind);
    switch (command.kind) {
      case "add":
        return add(command.given);
      case "flush":
        return flush();
      case "leave":
        return line.leave();
      case "abort":
        return added[command.which]?.caller.abort(gone);
      case "tick":
        return mock.timers.tick(command.ms);
    }
  }
  s.scheduleSequence(commands.map((command) => () => run(command)));

  // in the end only time is needed: patience and pauses are bounded
  for (let rounds = 0; rounds < 80; rounds++) {
    await s.waitIdle();
    await microtasks(10);
    if (s.count() === 0 && flushing === 0 && added.every(({ outcome }) => outcome)) break;
    if (s.count() === 0) {
      const late = added.filter(({ outcome, until }) => !outcome && until < Date.now());
      wrong.push(
        ...late.map(({ json, until }) => `${json.slice(0, 30)} waits ${Date.now() - until} ms too long`),
      );
    }
    mock.timers.tick(5000);
  }
  assert.deepEqual(wrong, []);
  for (const { json, outcome } of added)
    assert.ok(outcome, `${json.slice(0, 30)} is neither kept nor given up`);
  assert.equal(flushing, 0);
  await Promise.all(flushed);
  assert.equal(line.size, 0);
  requireKept(server, added, commands);
}

const gone = new Error("the caller went away");

async function microtasks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await undefined;
}

const reasonOf = (why: unknown): string => (why instanceof FeedbackError ? why.kind : "aborted");

/** Whether a signal may be given up for this reason at this point. */
function isReason(why: unknown, { given, until, caller }: Added): boolean {
  if (why === gone) return caller.signal.aborted;
  if (!(why instanceof FeedbackError)) return false;
  switch (why.kind) {
    case "refused":
      return why.status === 401 || (why.status === 400 && given.wrong);
    case "undelivered":
      // the server may ask for two seconds more than are left, or for a day
      return why.status === 504 || Date.now() + 2000 >= until;
    case "queue_full":
      return true;
  }
}

/** Acknowledged signals are stored once, under the returned id, and in the order of adding, unless a page was left. */
function requireKept(server: Kept, added: readonly Added[], commands: readonly Command[]): void {
  const acknowledged = added.filter(({ outcome }) => outcome && "acknowledged" in outcome);
  for (const { json, outcome } of acknowledged) {
    const id = server.get(json);
    assert.ok(id !== undefined && outcome && "acknowledged" in outcome);
    assert.equal(outcome.acknowledged.id, id);
  }
  if (commands.some(({ kind }) => kind === "leave")) return;
  const order = new Map(added.map(({ json }, i) => [json, i]));
  const arrived = [...server.keys()].map((json) => order.get(json));
  assert.deepEqual(
    arrived,
    arrived.toSorted((a = 0, b = 0) => a - b),
  );
}

/** Of its body no more than a beginning. */
function brokenOff({ status }: Response): Response {
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    controller.enqueue(new TextEncoder().encode('{"sig'));
    controller.error(new TypeError("terminated"));
  };
  return new Response(new ReadableStream({ start }), { status });
}

/** Ids by what was sent. */
type Kept = Map<string, string>;

/** An inbox that behaves like the server: a list is accepted as a whole or not at all, and a repeated signal is stored once. */
function inbox(
  s: fc.Scheduler,
  { fates, afterwards }: Network,
  count: (what: string) => void,
): { readonly server: Kept; readonly fetch: typeof fetch; readonly wrong: string[] } {
  const server: Kept = new Map();
  /** Violations by the client. They are stored, since a thrown error would count as a network failure. */
  const wrong: string[] = [];
  let requests = 0;
  let underway = 0;
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const fate = fates[requests++] ?? afterwards;
    count(`request ${fate}`);
    const leaving = init?.keepalive === true;
    const bytes = new TextEncoder().encode(String(init?.body)).length;
    if (leaving && bytes > 65_536) wrong.push(`${bytes} bytes as a page is left`);
    if (bytes > 1_048_576) wrong.push(`${bytes} bytes`);
    if (!leaving && underway++ > 0) wrong.push("two requests at a time");
    try {
      await s.schedule(Promise.resolve(), `request, ${fate}`);
      if (fate === "lost") throw new TypeError("fetch failed");
      const answer = answerOf(String(init?.body), fate);
      await s.schedule(Promise.resolve(), "answer");
      if (fate === "answer lost") throw new TypeError("terminated");
      if (fate === "answer broken off") return brokenOff(answer);
      return answer;
    } finally {
      if (!leaving) underway--;
    }
  };
  function answerOf(body: string, fate: Fate): Response {
    if (fate === "busy for a day")
      return Response.json({}, { status: 504, headers: { "retry-after": "86400" } });
    if (fate === "no key") return Response.json({}, { status: 401 });
    if (fate === "busy") return Response.json({}, { status: 503 });
    if (fate === "busy for 2 s") return Response.json({}, { status: 429, headers: { "retry-after": "2" } });
    const sent: readonly { readonly wrong: boolean }[] = JSON.parse(body);
    if (sent.some(({ wrong }) => wrong)) return Response.json({}, { status: 400 });
    const signals = sent.map((one) => {
      const json = JSON.stringify(one);
      const duplicate = server.has(json);
      const id = server.get(json) ?? `sig_${server.size}`;
      server.set(json, id);
      return { id, duplicate };
    });
    return Response.json({ signals });
  }
  return { server, fetch, wrong };
}
