import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import type { TrainingExample } from "../../src/core/trainingExamples.ts";
import { trainingExamplesFrom } from "../../src/exchange/derived.ts";
import { type Imported, type ImportFormat, importFile } from "../../src/exchange/import/importFile.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { assistant, user } from "./served.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "whetstone-import-"));
});
after(() => rm(folder, { recursive: true, force: true }));

let files = 0;
const lines = (...rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

interface Store {
  readonly imported: Imported;
  readonly responses: readonly ServedResponse[];
  readonly signals: readonly ReceivedSignal[];
  readonly examples: readonly TrainingExample[];
}

/** What a file brings into an empty store, and that it brings nothing the second time. */
async function bring(from: ImportFormat, ...texts: readonly string[]): Promise<Store> {
  const production = await openTrafficStore(join(folder, `${++files}.sqlite`));
  try {
    let imported: Imported | undefined;
    for (const text of texts) {
      const file = join(folder, `${++files}.jsonl`);
      await writeFile(file, text);
      imported = await importFile(production, file, { from, now: 1_800_000_000_000 });
      const again = await importFile(production, file, { from, now: 1_800_000_000_001 });
      assert.deepEqual([again.responses.added, again.signals.added], [0, 0]);
      assert.equal(again.signals.known, imported.signals.added + imported.signals.known);
    }
    assert.ok(imported);
    const examples = await Array.fromAsync(trainingExamplesFrom(production));
    return {
      imported,
      responses: await Array.fromAsync(production.responses()),
      signals: await Array.fromAsync(production.signals()),
      examples: examples.filter((made) => made.kind !== "dropped"),
    };
  } finally {
    await production.close();
  }
}
const said = (signals: readonly ReceivedSignal[]) =>
  signals.map(({ kind, channel, value, text, about, source }) => ({
    kind,
    channel,
    value,
    text,
    about: about[0],
    source,
  }));

const trace = {
  id: "t1",
  timestamp: "2026-01-02T03:04:05.000Z",
  userId: "ann",
  sessionId: "chat 1",
  observations: [
    { id: "span", traceId: "t1", type: "SPAN", startTime: "2026-01-02T03:04:05.000Z" },
    {
      id: "g2",
      traceId: "t1",
      type: "GENERATION",
      startTime: "2026-01-02T03:04:09.000Z",
      model: "gpt",
      input: [user("hello"), assistant("good day"), user("more")],
      output: { role: "assistant", content: "that is all" },
    },
    {
      id: "g1",
      traceId: "t1",
      type: "GENERATION",
      startTime: "2026-01-02T03:04:05.000Z",
      endTime: "2026-01-02T03:04:06.500Z",
      model: "gpt",
      modelParameters: { temperature: 0.5 },
      usageDetails: { input: 3, output: 2, total: 5 },
      input: JSON.stringify([user("hello")]),
      output: "good day",
    },
  ],
  scores: [
    {
      id: "s1",
      name: "thumb",
      value: 1,
      dataType: "BOOLEAN",
      traceId: "t1",
      timestamp: "2026-01-02T04:00:00Z",
    },
  ],
};

test("langfuse: a trace is a session, its generations are turns whatever their order, its user is known", async () => {
  const { responses, signals, imported } = await bring("langfuse", JSON.stringify([trace]));
  assert.deepEqual(
    responses.map((r) => [r.id, r.session, r.trajectory, r.turn, r.user, r.ms]),
    [
      ["langfuse:g1", "langfuse:t1", "langfuse:t1/0", 0, "ann", 1500],
      ["langfuse:g2", "langfuse:t1", "langfuse:t1/0", 1, "ann", 0],
    ],
  );
  assert.deepEqual(responses[0]!.prompt, [user("hello")]);
  assert.deepEqual(responses[0]!.settings, { temperature: 0.5 });
  assert.deepEqual(responses[0]!.usage, { input: 3, output: 2 });
  assert.equal(responses[0]!.tags["langfuse.session"], "chat 1");
  assert.equal(responses[0]!.at, Date.UTC(2026, 0, 2, 3, 4, 5));
  assert.deepEqual(said(signals), [
    {
      kind: "reaction",
      channel: "thumb",
      value: 1,
      text: "true",
      about: { session: "langfuse:t1" },
      source: "langfuse:api",
    },
  ]);
  assert.equal(signals[0]!.user, "ann");
  assert.deepEqual(imported.ignored, { "observation that is no generation": 1 });
});

test("langfuse: every type of score, in pages, by both names, for generations, traces and sessions", async () => {
  const at = { timestamp: "2026-01-02T04:00:00Z" };
  const page = {
    data: [
      {
        id: "1",
        name: "quality",
        value: 0.9,
        dataType: "NUMERIC",
        observationId: "g1",
        traceId: "t1",
        comment: "fine",
        source: "ANNOTATION",
        authorUserId: "bo",
        ...at,
      },
      {
        id: "2",
        name: "mood",
        stringValue: "angry",
        value: 2,
        dataType: "CATEGORICAL",
        traceId: "t1",
        comment: "rude",
        ...at,
      },
      {
        id: "3",
        name: "output",
        value: "Good evening.",
        dataType: "CORRECTION",
        subject: { kind: "observation", id: "g1", traceId: "t1" },
        ...at,
      },
      {
        id: "4",
        name: "why",
        value: "too short",
        dataType: "TEXT",
        subject: { kind: "trace", id: "t1" },
        source: "EVAL",
        ...at,
      },
      { id: "5", name: "nps", value: 9, dataType: "NUMERIC", sessionId: "chat 1", ...at },
      { id: "6", name: "nps", value: 9, dataType: "NUMERIC", sessionId: "chat 2", ...at },
    ],
    meta: { page: 1, totalPages: 1 },
  };
  const { signals, imported, examples } = await bring(
    "langfuse",
    JSON.stringify(trace) + JSON.stringify(page),
  );
  const thread = { session: "langfuse:t1" };
  const reply = { response: "langfuse:g1" };
  assert.deepEqual(said(signals.filter(({ id }) => id !== "langfuse:s1")), [
    { kind: "score", channel: "quality", value: 0.9, text: "fine", about: reply, source: "reviewer:bo" },
    {
      kind: "reaction",
      channel: "mood",
      value: undefined,
      text: "angry",
      about: thread,
      source: "langfuse:api",
    },
    {
      kind: "critique",
      channel: "mood",
      value: undefined,
      text: "rude",
      about: thread,
      source: "langfuse:api",
    },
    {
      kind: "correction",
      channel: "output",
      value: undefined,
      text: "Good evening.",
      about: reply,
      source: "langfuse:api",
    },
    {
      kind: "critique",
      channel: "why",
      value: undefined,
      text: "too short",
      about: thread,
      source: "judge:langfuse",
    },
    { kind: "score", channel: "nps", value: 9, text: undefined, about: thread, source: "langfuse:api" },
  ]);
  assert.equal(imported.ignored["score on something that is not in this file"], 1);
  assert.equal(examples.filter(({ kind }) => kind === "pair").length, 1);
});

test("langfuse: CSV in snake case, with quotes and line breaks in cells; a table of traces alone", async () => {
  const traces = [
    "id,timestamp,user_id,session_id,input,output",
    't9,2026-01-02 03:04:05.123456,ann,,"{""messages"": [{""role"": ""user"", ""content"": ""a, b\\nc""}]}","two\nlines"',
    "",
  ].join("\r\n");
  const scores = [
    "id,timestamp,name,value,string_value,data_type,trace_id,observation_id,comment",
    's9,2026-01-02 04:00:00.000000,thumb,0,False,BOOLEAN,t9,,"no, ""never"""',
  ].join("\n");
  const { responses, signals } = await bring("langfuse", traces, scores);
  assert.equal(responses[0]!.prompt[0]!.content, "a, b\nc");
  assert.equal(responses[0]!.choices[0]!.message.content, "two\nlines");
  assert.equal(responses[0]!.at, Date.UTC(2026, 0, 2, 3, 4, 5, 123));
  assert.deepEqual(
    said(signals).map(({ kind, value, text, about }) => [kind, value, text, about]),
    [
      ["reaction", 0, "false", { session: "langfuse:t9" }],
      ["critique", undefined, 'no, "never"', { session: "langfuse:t9" }],
    ],
  );
});

test("langsmith: runs of models are responses, feedback finds its run or the whole trace", async () => {
  const human = {
    lc: 1,
    type: "constructor",
    id: ["langchain", "schema", "HumanMessage"],
    kwargs: { content: "hello" },
  };
  const ai = {
    lc: 1,
    type: "constructor",
    id: ["langchain", "schema", "AIMessage"],
    kwargs: { content: "good day", tool_calls: [{ id: "c1", name: "look", args: { at: "it" } }] },
  };
  const runs = [
    {
      id: "root",
      trace_id: "root",
      run_type: "chain",
      start_time: "2026-01-02T03:04:05.000000",
      inputs: {},
      outputs: {},
    },
    {
      id: "llm",
      trace_id: "root",
      run_type: "llm",
      start_time: "2026-01-02T03:04:05.000000",
      end_time: "2026-01-02T03:04:06.000000",
      inputs: { messages: [[human]] },
      outputs: { generations: [[{ text: "good day", message: ai }]] },
      extra: {
        metadata: { ls_model_name: "m", thread_id: "th", user_id: "ann" },
        invocation_params: { model: "m", temperature: 0 },
      },
      prompt_tokens: 4,
      completion_tokens: 2,
    },
  ];
  const at = { created_at: "2026-01-03T00:00:00+00:00", feedback_source: { type: "api" } };
  const notes = [
    { id: "f1", run_id: "root", trace_id: "root", key: "thumb", score: true, comment: "nice", ...at },
    {
      id: "f2",
      run_id: "llm",
      trace_id: "root",
      key: "correctness",
      score: 0.5,
      correction: { output: "Good evening." },
      ...at,
    },
    {
      id: "f3",
      run_id: "llm",
      trace_id: "root",
      key: "tone",
      score: null,
      value: "rude",
      feedback_source: { type: "model" },
      created_at: at.created_at,
    },
    { id: "f4", run_id: null, key: "project", score: 1, ...at },
  ];
  const { responses, signals, imported, examples } = await bring("langsmith", lines(...runs, ...notes));
  assert.equal(responses.length, 1);
  const [reply] = responses;
  assert.deepEqual(reply!.prompt, [user("hello")]);
  assert.deepEqual(reply!.choices[0]!.message.toolCalls, [
    { id: "c1", name: "look", arguments: '{"at":"it"}' },
  ]);
  assert.deepEqual(
    [reply!.model, reply!.user, reply!.ms, reply!.settings],
    ["m", "ann", 1000, { temperature: 0 }],
  );
  assert.deepEqual(
    said(signals).map(({ kind, value, text, about, source }) => [kind, value, text, about, source]),
    [
      ["reaction", 1, "true", { session: "langsmith:root" }, "langsmith"],
      ["critique", undefined, "nice", { session: "langsmith:root" }, "langsmith"],
      ["score", 0.5, undefined, { response: "langsmith:llm" }, "langsmith"],
      ["correction", undefined, "Good evening.", { response: "langsmith:llm" }, "langsmith"],
      ["reaction", undefined, "rude", { response: "langsmith:llm" }, "judge:langsmith"],
    ],
  );
  assert.deepEqual(imported.ignored, { "run of type chain": 1, "feedback on a project": 1 });
  assert.equal(examples.filter(({ kind }) => kind === "pair").length, 1);
});

const texts = (examples: readonly TrainingExample[]) =>
  examples.flatMap((example) => {
    if (example.kind === "pair")
      return [["pair", example.chosen.turns[0]!.action.content, example.rejected.turns[0]!.action.content]];
    if (example.kind === "demonstration") return [["shown", example.shown.turns[0]!.action.content]];
    if (example.kind === "rating")
      return [[example.good ? "good" : "bad", example.reply.turns[0]!.action.content]];
    return [];
  });

test("openai: fine-tuning examples with weights, preferences, and logs of calls", async () => {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const call = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
  };
  const { responses, examples, imported } = await bring(
    "openai",
    lines(
      {
        messages: [
          user("a"),
          { ...assistant("no"), weight: 0 },
          user("b"),
          { ...assistant("yes"), weight: 1 },
        ],
      },
      { messages: [user("t"), call], tools },
      {
        input: { messages: [user("p")] },
        preferred_output: [assistant("good")],
        non_preferred_output: [assistant("bad")],
      },
      {
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1_767_000_000,
        model: "m",
        messages: [user("q")],
        choices: [{ index: 0, message: assistant("r"), finish_reason: "length" }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      },
      {
        custom_id: "b1",
        body: { model: "m", messages: [user("q2")] },
        response: {
          status_code: 200,
          body: { id: "chatcmpl-2", choices: [{ message: assistant("r2"), finish_reason: "stop" }] },
        },
      },
      { id: "chatcmpl-3", object: "chat.completion", choices: [{ message: assistant("r3") }] },
    ),
  );
  assert.deepEqual(texts(examples).sort(), [
    ["pair", "good", "bad"],
    ["shown", ""],
    ["shown", "yes"],
  ]);
  const shown = examples.find((l) => l.kind === "demonstration" && l.shown.turns[0]!.action.toolCalls);
  assert.ok(shown?.kind === "demonstration");
  assert.equal(shown.shown.turns[0]!.action.toolCalls![0]!.name, "look");
  assert.equal(shown.task.prompt[0]!.tools![0]!.name, "look");
  const stored = responses.find(({ id }) => id === "openai:chatcmpl-1");
  assert.deepEqual(
    [stored?.choices[0]?.stop, stored?.at, stored?.version],
    ["length", 1_767_000_000_000, "import:m"],
  );
  assert.ok(responses.some(({ id }) => id === "openai:chatcmpl-2"));
  assert.deepEqual(imported.ignored, { "completion without its messages": 1 });
  // the weighted conversation is one trajectory of two turns
  const turns = responses
    .filter(({ prompt }) => prompt[0]!.content === "a")
    .map((r) => [r.trajectory, r.turn]);
  assert.deepEqual(turns, [
    [turns[0]![0], 0],
    [turns[0]![0], 1],
  ]);
});

test("trl: conversational and standard, paired and unpaired, implicit prompts", async () => {
  const { examples, imported, responses } = await bring(
    "trl",
    lines(
      { prompt: [user("c")], completion: [assistant("d")] },
      { prompt: "The sky is", completion: " blue." },
      { messages: [user("m"), assistant("n")] },
      { prompt: [user("p")], chosen: [assistant("good")], rejected: [assistant("bad")] },
      { chosen: [user("i"), assistant("in")], rejected: [user("i"), assistant("out")] },
      { chosen: "Colour of the sea: blue", rejected: "Colour of the sea: black" },
      { prompt: [user("k")], completion: [assistant("ok")], label: true },
      { prompt: "k2", completion: "nok", label: false },
      { prompt: [user("alone")] },
      { text: "plain" },
      { prompt: "2+2", completions: ["4"], labels: [true] },
    ),
  );
  assert.deepEqual(texts(examples).sort(), [
    ["bad", "nok"],
    ["good", "ok"],
    ["pair", "blue", "black"],
    ["pair", "good", "bad"],
    ["pair", "in", "out"],
    ["shown", " blue."],
    ["shown", "d"],
    ["shown", "n"],
  ]);
  assert.ok(responses.some(({ prompt }) => prompt[0]!.content === "Colour of the sea: "));
  assert.deepEqual(imported.ignored, { "prompt alone": 1, "text alone": 1, "stepwise labels": 1 });
});

test("trl: a conversation that was paid for is no demonstration", async () => {
  const talk = [user("door?"), assistant("blue"), user("sure?"), assistant("no")];
  const { signals, responses, examples } = await bring(
    "trl",
    lines({ messages: talk, reward: 0.5, id: "r/1" }, { messages: talk, reward: 0, id: "r/2" }),
  );
  assert.deepEqual(
    said(signals).map(({ kind, value, about }) => [kind, value, about]),
    [
      ["reward", 0.5, { session: "trl:r/1" }],
      ["reward", 0, { session: "trl:r/2" }],
    ],
  );
  assert.deepEqual(responses.map(({ session, turn }) => [session, turn]).sort(), [
    ["trl:r/1", 0],
    ["trl:r/1", 1],
    ["trl:r/2", 0],
    ["trl:r/2", 1],
  ]);
  assert.deepEqual(
    examples.map(({ kind }) => kind),
    ["conversation", "conversation"],
  );
});

test("trl: a reward in CSV is a number too; what is none is named, and is no demonstration", async () => {
  const talk = JSON.stringify([user("door?"), assistant("blue")]).replaceAll('"', '""');
  const { signals } = await bring("trl", `messages,reward\n"${talk}",0.25\n`);
  assert.deepEqual(
    signals.map(({ kind, value }) => [kind, value]),
    [["reward", 0.25]],
  );
  const none = await bring("trl", lines({ messages: [user("a"), assistant("b")], reward: null }));
  assert.deepEqual(
    none.signals.map(({ kind }) => kind),
    ["demonstration"],
  );
  const odd = lines({ messages: [user("a"), assistant("b")], reward: { total: 1 } });
  await assert.rejects(bring("trl", odd), /line 1: got the reward {"total":1}/);
});

test("what is no text in UTF-8 is named by its line, and not taken for CSV or mended in silence", async () => {
  const file = join(folder, "bytes");
  const trying = () => importFile(undefined, file, { from: "trl", now: 1, dryRun: true });
  const row = JSON.stringify({ messages: [user("für"), assistant("é")] });
  await writeFile(file, `\ufeff${row}\n${row}`);
  assert.equal((await trying()).records, 2);
  await writeFile(file, Buffer.concat([Buffer.from(`${row}\n`), Buffer.from(row, "latin1")]));
  await assert.rejects(trying(), /line 2: got bytes that are not UTF-8.*to_json/);
  await writeFile(file, gzipSync(row));
  await assert.rejects(trying(), /line 1: got bytes that are not UTF-8/);
  // as Parquet begins
  await writeFile(file, Buffer.from([0x50, 0x41, 0x52, 0x31, 0x15, 0x04, 0x15, 0xf0, 0x80]));
  await assert.rejects(trying(), /line 1: got bytes that are not UTF-8/);
  await writeFile(file, Buffer.from("é").subarray(0, 1));
  await assert.rejects(trying(), /line 1: got bytes that are not UTF-8/);
});

test("a broken record is named by its line, and nothing is written", async () => {
  const production = await openTrafficStore(join(folder, "broken.sqlite"));
  const good = lines({ prompt: "a", completion: "b" });
  const broken: readonly (readonly [text: string, where: RegExp])[] = [
    [`${good}\n${good}{"prompt": "a", "completion": }\n`, /line 4: got .*JSON/],
    [`${good}{"prompt": "a", "completion": "b", "label": "maybe"}`, /line 2: got the label "maybe"/],
    [`${good}{"chosen": [{"role":`, /line 2: got a record that never ends/],
    [`${good}nonsense`, /line 2: got "nonsense"/],
    ["prompt,completion\n1,2\n3\n", /line 3: got 1 cells, expected 2/],
    ['prompt,completion\n1,"2\n', /line 2: got a quote that is never closed/],
  ];
  for (const [i, [text, where]] of broken.entries()) {
    const file = join(folder, `broken-${i}`);
    await writeFile(file, text);
    await assert.rejects(importFile(production, file, { from: "trl", now: 0 }), (e: Error) =>
      where.test(e.message),
    );
  }
  await assert.rejects(importFile(production, join(folder, "none"), { from: "trl", now: 0 }), {
    code: "import.invalid",
  });
  assert.deepEqual(await Array.fromAsync(production.responses()), []);
  await production.close();
});

test("a dry run counts and writes nothing; what was erased is not taken back", async () => {
  const production = await openTrafficStore(join(folder, "dry.sqlite"));
  const file = join(folder, "dry.json");
  await writeFile(
    file,
    JSON.stringify([
      trace,
      { ...trace, id: "t2", userId: "bo", observations: [], scores: [], input: "hi", output: "ho" },
    ]),
  );
  const dry = await importFile(production, file, { from: "langfuse", dryRun: true, now: 0 });
  assert.deepEqual([dry.responses.added, dry.signals.added], [3, 1]);
  assert.deepEqual(await Array.fromAsync(production.responses()), []);
  await importFile(production, file, { from: "langfuse", now: 1 });
  await production.erase({ user: "ann" });
  const again = await importFile(production, file, { from: "langfuse", now: 2 });
  assert.deepEqual(again.ignored["erased before"], 3);
  assert.deepEqual(
    (await Array.fromAsync(production.responses())).map((r) => r.user),
    ["bo"],
  );
  await production.close();
});
