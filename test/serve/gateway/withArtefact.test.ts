import assert from "node:assert/strict";
import { test } from "node:test";
import { promptAdditionOf, withPromptAddition } from "../../../src/common/artefacts/applyArtefact.ts";
import { writtenBy } from "../../../src/common/artefacts/origins.ts";
import { chatMessage, toolOf } from "../../../src/common/text/chatWire.ts";
import { withTools } from "../../../src/common/text/systemMessage.ts";
import {
  type Artefact,
  artefactVersion,
  type ExperienceLibrary,
  type InstructionSet,
} from "../../../src/core/artefact.ts";
import { type Json, listOf } from "../../../src/core/json.ts";
import type { TrafficSplit, Version } from "../../../src/core/served.ts";
import type { Answerer } from "../../../src/serve/gateway/answerer.ts";
import { openVersion, versionOf } from "../../../src/serve/gateway/open.ts";
import { upstream } from "../../../src/serve/gateway/upstream.ts";
import { liveVersions } from "../../../src/serve/gateway/versions.ts";
import {
  hintTag,
  shownTag,
  withAdditionOnWire,
  withArtefact,
} from "../../../src/serve/gateway/withArtefact.ts";
import { withCode } from "../../train/world.ts";
import { scripted, world } from "./world.ts";

const origins = writtenBy("person");
const instructions: InstructionSet = {
  kind: "instructions",
  system: "Ask for the date.",
  tools: { book: "Books seats." },
  examples: [
    {
      id: "e",
      messages: [
        { role: "user", content: "One to Bruges." },
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "c", name: "book", arguments: "{}" }],
        },
        { role: "tool", content: "Booked.", toolCallId: "c" },
      ],
      origins,
    },
  ],
  origins,
};
const lessons: ExperienceLibrary = {
  kind: "experience",
  entries: [
    { id: "l1", kind: "strategy", when: "tickets", text: "be quick.", score: 0, shown: 0, origins },
    { id: "l2", kind: "warning", when: "", text: "no night trains.", score: 0, shown: 0, origins },
  ],
};
const always = (artefact: Artefact) => async () => artefact;
const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
const body = {
  model: "m",
  temperature: 0.5,
  messages: [
    { role: "developer", content: [{ type: "text", text: "You book trains." }] },
    { role: "user", content: [{ type: "text", text: "Two tickets" }, image] },
  ],
  tools: [
    { type: "function", function: { name: "book", description: "Books.", parameters: { type: "object" } } },
  ],
};
const post = (url: string, sent: object, session = "s") =>
  fetch(`${url}/session/${session}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer client-key" },
    body: JSON.stringify(sent),
  });
const saying = (content: string) => (_: unknown, response: { end(text: string): void }) =>
  response.end(
    JSON.stringify({
      id: "x",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    }),
  );

test("on the wire a model is told what it is told in our words, and the client's messages stay as they are", () => {
  const read = (sent: Readonly<Record<string, Json>>) =>
    withTools(listOf(sent.messages).map(chatMessage), listOf(sent.tools).flatMap(toolOf));
  const systems: readonly (readonly Json[])[] = [
    body.messages,
    body.messages.slice(1),
    [{ role: "system", content: "You book trains." }, ...body.messages.slice(1)],
  ];
  for (const messages of systems) {
    for (const artefact of [instructions, { ...instructions, instead: true as const }, lessons]) {
      const sent = { ...body, messages };
      const addition = promptAdditionOf(artefact, read(sent));
      const onWire = withAdditionOnWire(sent, addition);
      // parts of a content are joined without anything between them when they are read
      const joined = JSON.stringify(read(onWire)).replaceAll("\\n\\n", "");
      assert.equal(joined, JSON.stringify(withPromptAddition(read(sent), addition)).replaceAll("\\n\\n", ""));
      assert.deepEqual(listOf(onWire.messages).at(-1), body.messages.at(-1));
      assert.equal(onWire.temperature, 0.5);
    }
  }
});

test("the upstream reads the artefact; the record has what the client asked, and which parts were shown", async () => {
  const behind = await scripted(saying("On which day?"));
  const over = upstream({ url: behind.url, key: "ours" });
  const w = await world({ main: withArtefact({ artefact: always(lessons), over }) });
  const answer = await post(w.url, body);
  assert.equal(answer.status, 200);
  const learnt = "Learnt before:\n- When tickets: be quick.\n- Beware: no night trains.";
  const [system, asked] = body.messages;
  assert.deepEqual(behind.asked[0]?.messages, [
    {
      ...system,
      content: [
        { type: "text", text: "You book trains." },
        { type: "text", text: learnt },
      ],
    },
    asked,
  ]);
  const [response] = await w.recorded(1);
  assert.equal(response?.tags[shownTag], "l1,l2");
  assert.equal(response?.prompt[0]?.content, "You book trains.");
  assert.equal(response?.choices[0]?.message.content, "On which day?");
  await w.close();
  await over.close();
  await behind.close();
});

test("a guide's hint is told and recorded; it gets no key, and what it does not say costs the hint alone", async () => {
  const guides = await scripted((asked, response) =>
    Array.isArray(asked.messages) && asked.messages.length > 2
      ? response.writeHead(500).end("broken")
      : saying("Ask the date.")(asked, response),
  );
  const behind = await scripted(saying("When?"));
  const over = upstream({ url: behind.url, clientKeys: true });
  const guide = upstream({ url: guides.url, clientKeys: true });
  const artefact = always({ kind: "guide", policy: "small", frame: "Hint: {hint}" });
  const w = await world({ main: withArtefact({ artefact, over, guide }) });
  await post(w.url, { messages: [{ role: "user", content: "Two tickets" }] });
  const long = [1, 2, 3].map((n) => ({ role: "user", content: `${n}` }));
  await post(w.url, { messages: long });
  const recorded = await w.recorded(2);
  assert.deepEqual(
    recorded.map(({ tags, status }) => [tags[hintTag], status]),
    [
      ["Ask the date.", "complete"],
      ["", "complete"],
    ],
  );
  assert.deepEqual(behind.asked[0]?.messages, [
    { role: "system", content: "Hint: Ask the date." },
    { role: "user", content: "Two tickets" },
  ]);
  assert.deepEqual(behind.asked[1]?.messages, long);
  assert.ok(guides.headers.every(({ authorization }) => authorization === undefined));
  assert.ok(behind.headers.every(({ authorization }) => authorization === "Bearer client-key"));
  await w.close();
  await Promise.all([over.close(), guide.close(), behind.close(), guides.close()]);
});

test("a guide is asked once a conversation, for its opening; what it did not say is asked for again", async () => {
  let broken = true;
  const guides = await scripted((asked, response) =>
    broken ? response.writeHead(500).end("broken") : saying("Ask the date.")(asked, response),
  );
  const behind = await scripted(saying("When?"));
  const over = upstream({ url: behind.url, clientKeys: true });
  const guide = upstream({ url: guides.url, clientKeys: true });
  const artefact = always({ kind: "guide", policy: "small", frame: "Hint: {hint}" });
  const w = await world({ main: withArtefact({ artefact, over, guide }) });
  const opening = [{ role: "user", content: "Two tickets" }];
  const later = [...opening, { role: "assistant", content: "When?" }, { role: "user", content: "Tomorrow" }];
  await post(w.url, { messages: opening });
  broken = false;
  await post(w.url, { messages: later });
  await post(w.url, {
    messages: [...later, { role: "assistant", content: "Done." }, { role: "user", content: "Thanks" }],
  });
  await post(w.url, { messages: [{ role: "user", content: "Three tickets" }] });
  assert.deepEqual(
    guides.asked.map(({ messages }) => messages),
    [opening, opening, [{ role: "user", content: "Three tickets" }]],
  );
  assert.deepEqual(
    (await w.recorded(4)).map(({ tags }) => tags[hintTag]),
    ["", "Ask the date.", "Ask the date.", "Ask the date."],
  );
  await w.close();
  await Promise.all([over.close(), guide.close(), behind.close(), guides.close()]);
});

test("a guide that hangs is not waited for longer than a hint is worth", async () => {
  const hanging = await scripted(() => {});
  const behind = await scripted(saying("On which day?"));
  const [over, guide] = [upstream({ url: behind.url }), upstream({ url: hanging.url })];
  const artefact = always({ kind: "guide", policy: "small", frame: "Hint: {hint}" });
  const w = await world({ main: withArtefact({ artefact, over, guide, hintSeconds: 0.2 }) });
  const answer = await post(w.url, body);
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /On which day/);
  await w.close();
  await Promise.all([over.close(), guide.close(), behind.close(), hanging.close()]);
});

test("a version of an artefact stands on another one, which is opened once and stays open as long as it is used", async () => {
  const log: string[] = [];
  const answerer = (name: string): Answerer => ({
    chat: async () => ({ status: 200, headers: {}, body: ReadableStream.from([]) }),
    models: async () => [name],
    close: async () => void log.push(`closed ${name}`),
  });
  const of = artefactVersion({
    name: "kind",
    artefact: instructions,
    parents: [],
    why: "first",
    origins,
    created: 0,
  });
  const base: Version = { id: "base", name: "base", backend: { kind: "local", name: "base" }, created: 0 };
  const kind = versionOf({ kind: "artefact", artefact: of.id, over: "base" }, 0);
  const versions = [base, kind];
  const split = (id: string, shares: TrafficSplit["shares"]): TrafficSplit => ({
    id,
    shares,
    unit: "session",
    since: 0,
    why: "",
  });
  const splits = [split("1", { base: 0.5, [kind.id]: 0.5 })];
  const live = await liveVersions({
    production: { versions: async () => versions, splits: async () => splits },
    open: (version, foundations) => {
      log.push(`opened ${version.id}`);
      const openers = {
        environment: {},
        local: { base: answerer("base") },
        artefact: async (id: string) => (id === of.id ? of : undefined),
      };
      return openVersion(version, openers, foundations);
    },
  });
  assert.deepEqual(log, ["opened base", `opened ${kind.id}`]);
  splits.push(split("2", { [kind.id]: 1 }));
  await live.refresh();
  assert.deepEqual(live.state.versions, [kind.id]);
  splits.push(split("3", { base: 1 }));
  await live.refresh();
  assert.deepEqual(live.state.versions, ["base"]);
  // the base was in use all the time
  assert.deepEqual(log, ["opened base", `opened ${kind.id}`]);
  await live.close();
  assert.ok(log.includes("closed base"));
});

test("what cannot be opened says what is missing", async () => {
  const version = versionOf({ kind: "artefact", artefact: "0123", over: "base" }, 0);
  await assert.rejects(openVersion(version, { environment: {} }), withCode("config.invalid"));
  await assert.rejects(openVersion(version, { environment: {} }), /the artefact 0123/);
});
