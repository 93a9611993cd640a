import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import { trainingExamplesFrom } from "../../src/exchange/derived.ts";
import { type ExportOptions, exportFile } from "../../src/exchange/export/exportFile.ts";
import type { ExportFormat } from "../../src/exchange/export/formats.ts";
import { importFile } from "../../src/exchange/import/importFile.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";
import { assistant, response, signal, user } from "./served.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "whetstone-export-"));
});
after(() => rm(folder, { recursive: true, force: true }));

let files = 0;
const fresh = (name: string): string => join(folder, `${++files}-${name}`);

async function stored(
  responses: readonly ServedResponse[],
  signals: readonly ReceivedSignal[],
): Promise<TrafficStore> {
  const production = await openTrafficStore(fresh("store.sqlite"));
  await production.write([
    ...responses.map((one) => ({ kind: "response" as const, response: one })),
    ...signals.map((one) => ({ kind: "signal" as const, signal: one })),
  ]);
  return production;
}

async function exported(production: TrafficStore, to: ExportFormat, options: Partial<ExportOptions> = {}) {
  const file = fresh(`${to}.jsonl`);
  const done = await exportFile(production, file, { to, now: 1, ...options });
  const text = await readFile(file, "utf8");
  const rows = text.split("\n").filter((line) => line !== "");
  assert.equal(rows.length, done.rows);
  return { ...done, text, rows: rows.map((line) => JSON.parse(line)) };
}

const look = { id: "c1", name: "look", arguments: '{"at":"it"}' };
const offered = { name: "look", description: "looks", parameters: { type: "object" } };
const called = { role: "assistant" as const, content: "", toolCalls: [look] };
const served = [
  response({ id: "r" }),
  response({
    id: "r2",
    turn: 1,
    prompt: [user("hello"), assistant("good day"), user("more\u2028lines")],
    choices: [{ message: assistant("that is all"), stop: "eos" }],
  }),
  response({
    id: "tools",
    session: "t",
    user: "w",
    prompt: [{ role: "system", content: "", tools: [offered] }, user("look")],
    choices: [{ message: called, stop: "eos" }],
  }),
];
const said = [
  signal({ id: "c", kind: "correction", text: "good evening" }),
  signal({ id: "down", kind: "reaction", text: "thumbs_down", value: 0, about: [{ response: "r2" }] }),
  signal({ id: "up", kind: "reaction", text: "thumbs_up", value: 1, about: [{ response: "tools" }] }),
];

test("messages: whole conversations, with tools and calls as templates read them", async () => {
  const production = await stored(served, said);
  const { rows, text } = await exported(production, "messages");
  assert.deepEqual(rows, [
    {
      messages: [
        ...[user("hello"), assistant("good day"), user("more\u2028lines")],
        assistant("that is all"),
      ],
    },
    {
      messages: [
        user("look"),
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: { at: "it" } } }],
        },
      ],
      tools: JSON.stringify([{ type: "function", function: offered }]),
    },
  ]);
  assert.ok(!text.includes("\u2028"));
  const good = await exported(production, "messages", { minRating: 0.5 });
  assert.deepEqual(good.rows, [rows[1]]);
  await production.close();
});

test("TRL's formats: demonstrations, pairs, labels, prompts", async () => {
  const production = await stored(served, said);
  const sft = await exported(production, "trl-sft");
  assert.deepEqual(sft.rows, [{ prompt: [user("hello")], completion: [assistant("good evening")] }]);
  const preference = await exported(production, "trl-preference");
  assert.deepEqual(preference.rows, [
    { prompt: [user("hello")], chosen: [assistant("good evening")], rejected: [assistant("good day")] },
  ]);
  const unpaired = await exported(production, "trl-unpaired");
  assert.deepEqual(
    unpaired.rows.map((row) => row.label),
    [false, true],
  );
  assert.equal(unpaired.rows[0].prompt.length, 3);
  const prompts = await exported(production, "trl-prompts");
  assert.deepEqual(
    prompts.rows.map((row) => row.prompt),
    [[user("hello")], [user("look")]],
  );
  await production.close();
});

test("what is exported comes back as the same pairs, demonstrations and ratings", async () => {
  const production = await stored(served, said);
  const back = await openTrafficStore(fresh("back.sqlite"));
  for (const to of ["trl-sft", "trl-preference", "trl-unpaired"] as const) {
    const { file } = await exported(production, to);
    await importFile(back, file, { from: "trl", now: 1 });
  }
  const taught = async (of: TrafficStore) => {
    const examples = await Array.fromAsync(trainingExamplesFrom(of));
    return examples
      .flatMap((example) => {
        if (example.kind === "pair")
          return [[example.task.id, example.chosen.turns[0]!.action, example.rejected.turns[0]!.action]];
        if (example.kind === "demonstration") return [[example.task.id, example.shown.turns[0]!.action]];
        if (example.kind === "rating")
          return [[example.task.id, example.reply.turns[0]!.action, example.good]];
        return [];
      })
      .map((row) => JSON.stringify(row))
      .sort();
  };
  const [before, after] = [await taught(production), await taught(back)];
  assert.equal(before.length, 4);
  assert.deepEqual(after, before);
  await Promise.all([production.close(), back.close()]);
});

test("erasing somebody takes their rows out of every file, and leaves the others'", async () => {
  const production = await stored(
    [
      response({ id: "r", user: "ann", prompt: [user("I am Ann Example")] }),
      response({ id: "o", session: "t", user: "bo", prompt: [user("something else")] }),
    ],
    [
      signal({ id: "1", kind: "correction", text: "for ann", user: "ann" }),
      signal({ id: "2", kind: "correction", text: "for bo", about: [{ response: "o" }], user: "bo" }),
    ],
  );
  const formats = ["messages", "trl-sft", "trl-preference", "trl-prompts"] as const;
  const out = await Promise.all(formats.map((to) => exported(production, to)));
  for (const { rows, text } of out) {
    assert.equal(rows.length, 2);
    assert.ok(text.includes("Ann Example"));
  }
  const erasure = await production.erase({ user: "ann" });
  assert.deepEqual(erasure.found, { rows: 0, bytes: 0, exports: 0 });
  assert.deepEqual(
    erasure.exports.map(({ rowsRemoved }) => rowsRemoved),
    [1, 1, 1, 1],
  );
  for (const { file } of out) {
    const left = await readFile(file, "utf8");
    assert.ok(!/ann/i.test(left));
    assert.ok(left.includes("something else"));
    assert.equal(left.split("\n").length, 2);
  }
  await production.close();
});

test("a file that is there is left alone, and one exported again is known by what it holds now", async () => {
  const production = await stored(served, said);
  const { file } = await exported(production, "trl-sft");
  await assert.rejects(exportFile(production, file, { to: "messages", now: 1 }), { code: "run.exists" });
  await rm(file);
  await exportFile(production, file, { to: "messages", now: 2 });
  const records = (await production.exports()).filter((record) => record.file === file);
  assert.deepEqual(
    records.map(({ format, rows }) => [format, rows]),
    [
      [
        "messages",
        [
          { sessions: ["s"], users: ["u"] },
          { sessions: ["t"], users: ["w"] },
        ],
      ],
    ],
  );
  await production.close();
});

test("something erased while a file is written: there is no file", async () => {
  const production = await stored(served, said);
  const file = fresh("race.jsonl");
  const racing: TrafficStore = {
    ...production,
    addExport: async (record) => {
      await production.erase({ user: "w" });
      await production.addExport(record);
    },
  };
  await assert.rejects(exportFile(racing, file, { to: "messages", now: 1 }), { code: "store.erased" });
  await assert.rejects(readFile(file), { code: "ENOENT" });
  await production.close();
});

const descriptors = "/proc/self/fd";
test("an erasure leaves no exported file open, also where no name is long enough to be searched for", {
  skip: !existsSync(descriptors) && "needs /proc",
}, async () => {
  const production = await stored(served, said);
  const { file } = await exported(production, "messages");
  await production.erase({ user: "w" });
  await new Promise((go) => setTimeout(go, 50));
  const open = (await readdir(descriptors)).map((n) => readlink(join(descriptors, n)).catch(() => ""));
  assert.ok(!(await Promise.all(open)).includes(file));
  await production.close();
});

test("erasing and exporting at once: whichever comes first, no file holds what is gone", async () => {
  for (let round = 0; round < 3; round++) {
    const production = await stored(
      [response({ id: "r", user: "ann", prompt: [user("I am Ann Example")] })],
      [signal({ id: "1", kind: "correction", text: "for ann", user: "ann" })],
    );
    const file = fresh("at-once.jsonl");
    const writing = exportFile(production, file, { to: "messages", now: 1 }).catch(() => undefined);
    for (let i = 0; i < 10 * round; i++) await Promise.resolve();
    await Promise.all([production.erase({ user: "ann" }), writing]);
    const left = await readFile(file, "utf8").catch(() => "");
    assert.ok(!left.includes("Ann"), `round ${round}: ${left}`);
    await production.close();
  }
});
