/** `whetstone judge FILE|RUN|STORE`: scores of transcripts, of a run and of served traffic; and several judges together. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { assistant, response, user } from "../exchange/served.ts";
import { temporary } from "../temporary.ts";
import { runIn, settings } from "../train/world.ts";
import { chatServer } from "./chatServer.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-scores-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

function written(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}
interface Row {
  readonly id: string;
  readonly score: number | null;
  readonly outcome: string;
  readonly judges?: readonly (number | null)[];
}
const rowsOf = (file: string): Row[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const lines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** Scores a reply by its length, of ten characters, and says what it was asked. */
const byLength = written(
  "by-length.ts",
  `export default { name: "by length", score: async (items) => items.map(({ asked, reply }) => ({ score: (asked === "odd" ? 5 : 0) + reply.length / 10 })) };`,
);
const transcripts = written(
  "transcripts.jsonl",
  lines([
    { id: "one", prompt: "p", reply: "1234" },
    {
      messages: [
        { role: "user", content: "p" },
        { role: "assistant", content: "12" },
      ],
      other: 1,
    },
    {
      id: "two turns",
      messages: [
        { role: "user", content: "p" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", function: { name: "f", arguments: {} } }],
        },
        { role: "tool", content: "r", tool_call_id: "c" },
        { role: "assistant", content: "123" },
      ],
    },
    { prompt: "odd", reply: "" },
  ]),
);

test("judge FILE writes a score a line, in the order of the file; an existing file is not written over", async () => {
  const args = ["judge", transcripts, "--evaluator", byLength, "--out", at("scores.jsonl")];
  const { code, err, out } = await inProcess([...args, "--json"]);
  assert.equal(code, 0, err);
  assert.deepEqual(
    rowsOf(at("scores.jsonl")).map(({ id, score, outcome }) => [id, score, outcome]),
    [
      ["one", 0.4, "answered"],
      ["line 2", 0.2, "answered"],
      ["two turns", 0.3, "answered"],
      ["line 4", 5, "answered"],
    ],
  );
  const said = JSON.parse(out);
  assert.deepEqual([said.type, said.items, said.outcomes], ["scores", 4, { answered: 4 }]);
  assert.ok(!existsSync(at("scores.jsonl.progress")));
  const again = await inProcess(args);
  assert.equal(again.code, 2);
  assert.match(again.err, /--out: got .*scores\.jsonl, an existing file/);
  const first = await inProcess([...args.slice(0, -1), at("first.jsonl"), "--limit", "2"]);
  assert.equal(first.code, 0, first.err);
  assert.equal(rowsOf(at("first.jsonl")).length, 2);
});

test("judge FILE: a line that does not fit, and what cannot be judged, are one clear error before anything is asked", async () => {
  const good = { prompt: "p", reply: "r" };
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [
      [written("a.jsonl", `${lines([good])}{"prompt": 1}\n`)],
      /a\.jsonl, line 2: got "prompt": .*expected a JSON object a line/,
    ],
    [[written("b.jsonl", `${lines([good])}{"prompt":\n`)], /b\.jsonl, line 2: got text that is no JSON/],
    [
      [written("c.jsonl", lines([{ messages: [{ role: "user", content: "p" }] }]))],
      /c\.jsonl, line 1: got messages without one of the assistant/,
    ],
    [
      [
        written(
          "d.jsonl",
          lines([
            { id: "x", ...good },
            { id: "x", ...good },
          ]),
        ),
      ],
      /got the id "x" twice/,
    ],
    [[at("none.jsonl"), "--store", at("none.sqlite")], /none\.sqlite/],
    [[transcripts, "--against", transcripts], /got it beside --against/],
  ];
  for (const [args, said] of cases) {
    const ran = await inProcess(["judge", ...args, "--evaluator", byLength, "--out", at("never.jsonl")]);
    assert.notEqual(ran.code, 0);
    assert.match(ran.err, said);
    assert.equal(ran.err.trim().split("\n").length, 1, ran.err);
    assert.ok(!existsSync(at("never.jsonl")) && !existsSync(at("never.jsonl.progress")));
  }
  const without = await inProcess(["judge", transcripts, "--evaluator", byLength]);
  assert.match(without.err, /no --out/);
  const both = await inProcess(["judge", transcripts, "--against", transcripts, "--evaluator", byLength]);
  assert.match(both.err, /got both/);
});

test("judge STORE scores each served trajectory, and judge RUN those of a run", async () => {
  const store = at("traffic.sqlite");
  const production = await openTrafficStore(store);
  const answered = (content: string) => [{ message: assistant(content), stop: "eos" as const }];
  await production.write([
    { kind: "response", response: response({ id: "a", session: "s", choices: answered("12345") }) },
    {
      kind: "response",
      response: response({ id: "b", session: "t", prompt: [user("odd")], choices: answered("1") }),
    },
  ]);
  await production.close();
  const served = await inProcess(["judge", store, "--evaluator", byLength, "--out", at("served.jsonl")]);
  assert.equal(served.code, 0, served.err);
  const found = rowsOf(at("served.jsonl")).map(({ id, score }) => [id, score]);
  assert.deepEqual(found.sort(), [
    ["s/0", 0.5],
    ["t/0", 5.1],
  ]);
  await runIn(folder, { ...settings("tabular"), iterations: 1 });
  const runs = await openRunStore(at("whetstone.sqlite"));
  const [run] = await runs.runs();
  const kept = (await runs.trajectories(run!.id)).filter(({ turns }) => turns > 0);
  await runs.close();
  const args = ["judge", run!.id, "--store", at("whetstone.sqlite"), "--evaluator", byLength];
  const ofRun = await inProcess([...args, "--out", at("run.jsonl")]);
  assert.equal(ofRun.code, 0, ofRun.err);
  const ids = rowsOf(at("run.jsonl")).map(({ id }) => id);
  assert.deepEqual(
    ids,
    kept.map(({ iteration, phase, id }) => `${iteration}/${phase}/${id}`),
  );
  assert.ok(ids.length > 0);
});

test("judge goes on after Ctrl-C: what was scored is not asked again, and other work is not mixed in", async () => {
  const calls = at("calls.txt");
  const slow = written(
    "slow.ts",
    `import { appendFileSync } from "node:fs";
export default { name: "slow", score: async ([{ reply }]) => {
  await new Promise((go) => setTimeout(go, 150));
  appendFileSync(${JSON.stringify(calls)}, reply + "\\n");
  return [{ score: Number(reply) }];
} };`,
  );
  const many = written(
    "many.jsonl",
    lines(Array.from({ length: 12 }, (_, i) => ({ id: `i${i}`, prompt: "p", reply: String(i) }))),
  );
  const out = at("resumed.jsonl");
  const args = ["judge", many, "--evaluator", slow, "--concurrency", "1", "--out", out];
  const main = join(import.meta.dirname, "../../src/cli/main.ts");
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((go) => child.on("exit", go));
  let text = "";
  child.stdout.on("data", (d) => (text += d));
  const scored = (): number => (existsSync(`${out}.progress`) ? rowsOf(`${out}.progress`).length - 1 : 0);
  while (child.exitCode === null && scored() < 2) await new Promise((go) => setTimeout(go, 30));
  child.kill("SIGINT");
  assert.equal(await ended, 130);
  assert.match(text, /\d+ more are scored\. The same command goes on/);
  assert.ok(!existsSync(out));
  const before = scored();
  assert.ok(before >= 2 && before < 12);
  const other = await inProcess([...args, "--seed", "2"]);
  assert.equal(other.code, 2);
  assert.match(other.err, /scores of other items, judges or settings/);
  writeFileSync(`${out}.progress`, `${readFileSync(`${out}.progress`, "utf8")}{"id":"i11","sco`); // cut off as by a crash
  const done = await inProcess(args);
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, new RegExp(`Going on: ${before} of 12 are scored`));
  assert.deepEqual(
    rowsOf(out).map(({ score }) => score),
    Array.from({ length: 12 }, (_, i) => i),
  );
  const asked = readFileSync(calls, "utf8").trim().split("\n");
  // the call that Ctrl-C cut short may have ended unheard
  assert.ok(asked.length <= 13 && new Set(asked).size === 12, asked.join(" "));
});

test("judge --chat --estimate asks five items and says what all would cost; a spent budget keeps what is scored", async () => {
  const url = await chatServer(() => '{"why": "so", "score": 0.5}');
  const many = written(
    "hundred.jsonl",
    lines(Array.from({ length: 100 }, (_, i) => ({ prompt: `p${i}`, reply: "r" }))),
  );
  const out = at("estimated.jsonl");
  const flags = [
    "--chat",
    url,
    "--model",
    "tiny",
    "--price",
    "1000,1000",
    "--cache",
    at("cache"),
    "--out",
    out,
  ];
  const estimated = await inProcess(["judge", many, ...flags, "--estimate", "--json"]);
  assert.equal(estimated.code, 0, estimated.err);
  const { type, items, tokens, usd } = JSON.parse(estimated.out);
  // the server counts a token read and one written for each of the five requests
  assert.deepEqual([type, items, tokens], ["estimate", 100, { read: 100, written: 100 }]);
  assert.ok(Math.abs(usd - 0.2) < 1e-9);
  assert.ok(!existsSync(out) && rowsOf(`${out}.progress`).length === 6);
  const done = await inProcess(["judge", many, ...flags]);
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /Going on: 5 of 100 are scored[\s\S]*100 answered; mean score 0\.5[\s\S]*95 calls/);
  const poor = [...flags.slice(0, -1), at("poor.jsonl"), "--max-spend", "0.000001", "--seed", "7"];
  const spent = await inProcess(["judge", many, ...poor]);
  assert.equal(spent.code, 1);
  assert.match(spent.err, /not asked, and .*poor\.jsonl is not written/);
  assert.ok(!existsSync(at("poor.jsonl")));
});

test("several judges: each beside all together, and where they disagree too much they abstain", async () => {
  const judgeOf = (name: string, value: string): string =>
    written(
      `${name}.ts`,
      `export default { name: "${name}", score: async ([{ reply }]) => [{ score: ${value} }] };`,
    );
  const right = judgeOf("right", "Number(reply.startsWith('good'))");
  const half = judgeOf("half", "reply.startsWith('good') || reply.endsWith('7') ? 0.9 : 0.1");
  const labels = written(
    "labels.jsonl",
    lines(
      Array.from({ length: 40 }, (_, i) => ({
        prompt: `p${i}`,
        reply: `${i % 2 && i % 10 !== 7 ? "good" : "bad"} ${i}`,
        label: Number(i % 2 === 1 && i % 10 !== 7),
      })),
    ),
  );
  const judges = ["--judge", right, "--judge", half];
  const args = ["judge", "--against", labels, ...judges, "--abstain", "0.5"];
  const { code, out, err } = await inProcess([...args, "--json"]);
  assert.equal(code, 0, err);
  const report = JSON.parse(out);
  // the second judge is wrong of 7, 17, 27 and 37, where the two are 0.9 apart
  const accuracies = report.judges.map((one: { accuracy: { mean: number } }) => one.accuracy.mean);
  assert.deepEqual(accuracies, [1, 0.9]);
  assert.deepEqual([report.judged, report.accuracy.mean, report.calls.abstained], [36, 1, 8]);
  const { out: text } = await inProcess(args);
  assert.match(
    text,
    /right\.ts +40 of 40 +100\.0 %[\s\S]*half\.ts +40 of 40 +90\.0 %[\s\S]*together +36 of 40/,
  );
  const few = written(
    "few.jsonl",
    lines([
      { prompt: "p", reply: "good" },
      { prompt: "p", reply: "bad 7" },
    ]),
  );
  const scored = await inProcess(["judge", few, ...judges, "--abstain", "0.5", "--out", at("two.jsonl")]);
  assert.equal(scored.code, 0, scored.err);
  const rows = rowsOf(at("two.jsonl")).map(({ score, outcome, judges: own }) => [score, outcome, own]);
  assert.deepEqual(rows, [
    [0.95, "answered", [1, 0.9]],
    [null, "abstained", [0, 0.9]],
  ]);
});

test("judge --audit finds what a judge of length goes by, without labels", async () => {
  const replies = written(
    "replies.jsonl",
    lines(Array.from({ length: 20 }, (_, i) => ({ prompt: `p${i}`, reply: `Reply ${i}.` }))),
  );
  const args = ["judge", replies, "--evaluator", byLength, "--audit"];
  const { code, out, err } = await inProcess([...args, "--json"]);
  assert.equal(code, 0, err);
  const { biases, calls } = JSON.parse(out);
  assert.deepEqual(calls, { answered: 120, lost: 0 });
  const verdicts = biases.map(({ name, verdict }: Record<string, string>) => [name, verdict]);
  assert.deepEqual(verdicts, [
    ["position", "not found"],
    ["length", "found"],
    ["self-praise", "found"],
    ["format", "found"],
    ["authority", "found"],
  ]);
  assert.match((await inProcess(args)).out, /length +found +\+\d+\.\d+, each time/);
  const two = await inProcess([...args, "--judge", byLength]);
  assert.match(two.err, /--audit: got 2 judges/);
});
