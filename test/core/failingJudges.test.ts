/** Judges that fail, asked over HTTP: each call is one failure, none has a value, and no run ends by them. */
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import { after, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Counter } from "../../src/core/counter.ts";
import { type Attempt, comparingScores, counted, type Evaluator } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Stats } from "../../src/core/types.ts";
import { boundedFetch } from "../../src/engine/chat/boundedFetch.ts";
import { type ChatOptions, chatModel } from "../../src/engine/chat/chat.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { chatJudge } from "../../src/evaluator/judge.ts";
import { judgedOutcome } from "../../src/feedback/judgedOutcome.ts";
import { method } from "../../src/method/method.ts";
import { train } from "../../src/train/run.ts";
import { echo, folder } from "../train/world.ts";
import { trajectoryOf, turnOf } from "./make.ts";

const random = randomStream(1);
const attempt: Attempt = {
  task: { id: "task", prompt: [], metadata: {}, seed: 1 },
  trajectory: trajectoryOf("t", [turnOf([1], [2])]),
};

/** A server that answers as it is told. @returns its address, up to `/v1`. */
async function serving(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => answer(response));
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`;
}

const saying = (content: string) => (response: ServerResponse) => {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  response.setHeader("content-type", "application/json").end(JSON.stringify({ id: "r", choices }));
};

/** Sends as fast as it is read. */
function flooding(response: ServerResponse): void {
  const much = Buffer.alloc(2 ** 20, "x");
  response.setHeader("content-type", "application/json");
  const more = (): void => {
    while (response.write(much));
    response.once("drain", more);
  };
  more();
}

const judgeAt = (baseURL: string, options: Partial<ChatOptions> = {}) =>
  chatJudge(
    chatModel({
      model: createOpenAICompatible({ name: "here", baseURL, fetch: boundedFetch })("tiny"),
      ...{ retries: 1, backoffSeconds: 0.01, timeoutSeconds: 0.2, patienceSeconds: 0.5, ...options },
    }),
    "polite",
  );

function counting() {
  const counts: Partial<Record<Counter, number>> = {};
  const warned: string[] = [];
  const count = (counter: Counter, amount: number): void => {
    counts[counter] = (counts[counter] ?? 0) + amount;
  };
  return { counts, warned, run: { count, warn: (_: string, problem: string) => void warned.push(problem) } };
}

const faults = {
  "answers 500": (response: ServerResponse) => void response.writeHead(500).end("{}"),
  "answers 401": (response: ServerResponse) => void response.writeHead(401).end("{}"),
  "answers what is no JSON": (response: ServerResponse) => void response.end("<html>"),
  "answers off the schema": saying('{"verdict": "fine"}'),
  "scores with Infinity": saying('{"why": "so", "score": 1e999}'),
  "scores with a text": saying('{"why": "so", "score": "1"}'),
  hangs: () => undefined,
  floods: flooding,
} satisfies Readonly<Record<string, (response: ServerResponse) => void>>;

for (const [what, answer] of Object.entries(faults)) {
  test(`a judge whose server ${what}: twelve calls are twelve failures`, async () => {
    const judge = judgeAt(await serving(answer));
    const { counts, run } = counting();
    const { score } = counted(judge, run);
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 12; i++) assert.equal(await score([attempt], { random: randomStream(i) }), undefined);
    assert.deepEqual(counts, { "judge.calls": 12, "judge.failures": 12 });
    assert.ok(process.memoryUsage().rss - before < 500 * 2 ** 20);
  });
}

test("a judge at a dead port fails call by call, says why once it is gone, and is heard again when it is back", async () => {
  const answering = saying('{"why": "so", "score": 0.7}');
  let down = true;
  const judge = judgeAt(await serving((response) => (down ? response.destroy() : answering(response))), {
    againSeconds: 0.05,
  });
  const { counts, run } = counting();
  const { score } = counted(judge, run);
  for (let i = 0; i < 20; i++) assert.equal(await score([attempt], { random: randomStream(i) }), undefined);
  assert.deepEqual(counts, { "judge.calls": 20, "judge.failures": 20 });
  down = false;
  let heard: readonly Stats[] | undefined;
  for (let i = 20; i < 400 && !heard; i++) {
    heard = await score([attempt], { random: randomStream(i) });
    await new Promise((go) => setTimeout(go, 20));
  }
  assert.deepEqual(heard, [{ score: 0.7 }]);

  const dead = counting();
  const nobody = counted(judgeAt("http://127.0.0.1:1/v1"), dead.run);
  assert.equal(await nobody.score([attempt], { random }), undefined);
  assert.deepEqual(dead.counts, { "judge.calls": 1, "judge.failures": 1 });
  assert.match(dead.warned[0] ?? "", /could not connect/);
});

test("answers that are no finite numbers in place, and errors of the judge's own code, are failures", async () => {
  const odd = async (answer: unknown): Promise<never> => answer as never;
  const scores: readonly unknown[] = [
    [{ score: Number.POSITIVE_INFINITY }],
    [{ a: 1e308, b: 1e308 }],
    [{ score: "7" }],
    [{ score: null }],
    [null],
    [{ score: 1 }, { score: 1 }],
    { score: 1 },
    7,
  ];
  for (const answer of scores) {
    const { counts, warned, run } = counting();
    const judge: Evaluator = { name: "odd", score: () => odd(answer) };
    assert.equal(await counted(judge, run).score([attempt], { random }), undefined, JSON.stringify(answer));
    assert.deepEqual([counts, warned.length], [{ "judge.calls": 1, "judge.failures": 1 }, 1]);
  }
  for (const score of [Number.POSITIVE_INFINITY, "7", null]) {
    const judge: Evaluator = { name: "odd", score: () => odd([{ score }, { score: 1 }]) };
    assert.equal(await comparingScores(judge).compare(attempt, attempt, { random }), undefined);
  }
  for (const answer of [7, -0.1, "1", Number.POSITIVE_INFINITY, true]) {
    const { counts, run } = counting();
    const { compare } = counted({ name: "odd", compare: () => odd(answer) }, run);
    assert.equal(await compare(attempt, attempt, { random }), undefined);
    assert.equal(counts["judge.failures"], 1);
  }
  const { counts, warned, run } = counting();
  const faulty: Evaluator = {
    name: "faulty",
    score: async () => JSON.parse("no JSON"),
    critique: () => {
      throw new RangeError("index");
    },
  };
  const { score, critique } = counted(faulty, run);
  assert.equal(await score([attempt], { random }), undefined);
  assert.equal(await critique(attempt, { random }), undefined);
  assert.deepEqual(counts, { "judge.calls": 2, "judge.failures": 2 });
  assert.match(warned.join(" "), /not valid JSON.*index/);
});

test("a run whose judge is dead goes to its end, pays nothing, counts each failure and says so", async () => {
  const recipe = method({
    id: "judged",
    family: "judges",
    summary: "paid by a judge",
    slots: { feedback: judgedOutcome(judgeAt("http://127.0.0.1:1/v1")) },
  });
  const said: string[] = [];
  const metrics: Stats[] = [];
  const summary = await train(
    {
      environment: echo(),
      method: recipe.build({ tasks: 2, groupSize: 2 }),
      engine: tabularEngine(),
      seed: 1,
      iterations: 3,
      warmStart: false,
      evaluation: { tasks: 2, every: 0 },
      out: folder(),
    },
    (event) => {
      if (event.type === "warning") said.push(event.message);
      if (event.type === "iteration") metrics.push(event.metrics);
    },
    new AbortController().signal,
  );
  assert.equal(summary.iterations, 3);
  assert.deepEqual(
    metrics.map((m) => [m["total.judge.calls"], m["total.judge.failures"]]),
    [4, 8, 12].map((n) => [n, n]),
  );
  const about = said.filter((message) => /judge/.test(message));
  assert.equal(about.length, 2, about.join("\n"));
  assert.match(
    about[0]!,
    /^"chat judge" failed: .*could not connect.*counted in judge\.failures; the run goes on/,
  );
  assert.match(about[1]!, /^iteration 1: all 4 judgements failed, and paid nothing/);
});
