/** `whetstone discover`: one problem, searched by edits, by a model that learns, and by a model behind an API. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { temporary } from "../temporary.ts";
import { chatServer } from "./chatServer.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-discover-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Twelve bits; every fourth ones count together, so that single flips are not enough. @param more source code of further fields. */
function problem(name: string, more = ""): string {
  const file = join(folder, `${name}.ts`);
  writeFileSync(
    file,
    `let calls = 0;
     export default {
       name: "${name}", summary: "twelve 0s and 1s", starts: ["0 0 0 0 0 0 0 0 0 0 0 0"],
       score(text) {
         calls++; ${more.includes("@") ? more.slice(1) : ""}
         const bits = text.split(" ");
         if (bits.length !== 12 || bits.some((bit) => bit !== "0" && bit !== "1")) return undefined;
         return bits.reduce((sum, bit, i) => sum + (bit === "1" ? 1 + (i % 3) / 10 : 0), 0);
       },
       moves: {
         of: () => Array.from({ length: 12 }, (_, i) => "flip " + "abcdefghijkl"[i]),
         apply: (text, move) => text.split(" ").map((bit, i) => ("abcdefghijkl"[i] === move.at(-1) ? String(1 - bit) : bit)).join(" "),
       },
       ${more.includes("@") ? "" : more}
     };`,
  );
  return file;
}
const readJson = (out: string) => JSON.parse(readFileSync(join(out, "discover.json"), "utf8"));

test("the optimum of twelve bits is found, and the lineage leads from the start to it", async () => {
  const file = problem("bits", "optimum: 13.2");
  for (const search of ["puct", "evolution"]) {
    const out = join(folder, `bits-${search}`);
    const { code, err } = await inProcess(["discover", file, "--search", search, "--out", out]);
    assert.equal(code, 0, err);
    const { best, score, lineage, reached, bests, evaluations, at } = readJson(out);
    assert.deepEqual([best, reached], [Array(12).fill("1").join(" "), true], search);
    assert.ok(Math.abs(score - 13.2) < 1e-9 && at <= evaluations && evaluations < 3200, `${evaluations}`);
    assert.equal(lineage[0].candidate, Array(12).fill("0").join(" "));
    assert.equal(lineage.at(-1).candidate, best);
    const scores = bests.map((one: { readonly score: number }) => one.score);
    assert.deepEqual(
      scores,
      [...scores].sort((a, b) => a - b),
    );
    assert.equal(readFileSync(join(out, "best.txt"), "utf8").trim(), best);
  }
});

test("edits may lead to candidates without a score", async () => {
  const file = join(folder, "half.ts");
  const moves = `moves: { of: () => ["a", "!"], apply: (text, move) => text + move }`;
  const score = `score: (text) => (text.endsWith("!") ? undefined : text.length)`;
  writeFileSync(file, `export default { name: "half", summary: "y", starts: ["a"], ${score}, ${moves} };`);
  const out = join(folder, "half");
  const { code, err } = await inProcess(["discover", file, "--evaluations", "100", "--out", out]);
  assert.equal(code, 0, err);
  const { best, score: longest } = readJson(out);
  assert.match(best, /^a{3,}$/);
  assert.equal(longest, best.length);
});

test("equal seeds give equal searches, and one that is interrupted goes on to the same end", async () => {
  const whole = join(folder, "whole");
  const common = ["--evaluations", "400", "--groups", "4"];
  assert.equal((await inProcess(["discover", problem("plain"), ...common, "--out", whole])).code, 0);
  const broken = join(folder, "broken");
  const file = problem("stopped", '@if (calls === 150) process.emit("SIGINT");');
  const first = await inProcess(["discover", file, ...common, "--out", broken]);
  assert.equal(first.code, 130, first.err);
  assert.match(first.err, /Go on with: .*discover .* --resume/);
  const halfway = readJson(broken).evaluations;
  assert.ok(halfway < 300, `${halfway}`);
  const again = await inProcess(["discover", file, ...common, "--out", broken, "--resume"]);
  assert.equal(again.code, 0, again.err);
  const without = ({ problem: _, ...rest }: Record<string, unknown>): unknown => rest;
  assert.deepEqual(without(readJson(broken)), without(readJson(whole)));
  const finished = await inProcess(["discover", file, ...common, "--out", broken]);
  assert.equal(finished.code, 2);
  assert.match(finished.err, /already contains a search/);
});

test("a small model learns to propose edits, within the budget", async () => {
  const out = join(folder, "learn");
  const file = problem("learnt");
  const size = ["--learn", "--groups", "2", "--group-size", "4", "--evaluations", "41", "--edits", "2"];
  const { code, err } = await inProcess(["discover", file, ...size, "--out", out]);
  assert.equal(code, 0, err);
  const { evaluations, score } = readJson(out);
  assert.equal(evaluations, 41);
  assert.ok(score > 0);
});

test("what is no problem, and what does not go together, gets one line", async () => {
  const without = join(folder, "without.ts");
  writeFileSync(without, `export default { name: "x", summary: "y", starts: ["z"], score: () => 1 };`);
  const wrong = join(folder, "wrong.ts");
  writeFileSync(wrong, `export default { name: "x", summary: "y", starts: [], score: () => 1 };`);
  const broken = (file: string, rest: string): string => {
    const at = join(folder, `${file}.ts`);
    writeFileSync(at, `export default { name: "${file}", summary: "y", starts: ["a"], ${rest} };`);
    return at;
  };
  const moves = `moves: { of: () => ["x"], apply: () => "b" }`;
  const scoreless = broken("scoreless", `score() { throw new Error("boom"); }, ${moves}`);
  const still = broken("still", `score: () => 1, moves: { of: () => [], apply: () => "b" }`);
  const raised = broken(
    "raised",
    `score: () => 1, moves: { of() { throw new Error("boom"); }, apply: () => "b" }`,
  );
  const three = join(folder, "three.ts");
  writeFileSync(three, "export default 3;");
  for (const [args, expected] of [
    [[three], /problem: got 3, expected an object with name, summary, starts and score/],
    [[scoreless], /problem "scoreless": start 1: got an error: boom, expected a score/],
    [[still], /start 1: got a list of 0, expected moves\.of\(start\), a list of texts/],
    [[raised], /start 1: got an error: boom, expected moves\.of/],
    [[without], /no moves, expected moves.*--chat URL/],
    [[wrong], /problem "x": starts: got another object, expected a list of candidates/],
    [[problem("a"), "--learn", "--chat", "http://127.0.0.1:1/v1"], /--learn: got it beside --chat/],
    [[problem("a"), "--learn", "--group-size", "1"], /--group-size/],
  ] as const) {
    const { code, err } = await inProcess(["discover", ...args]);
    assert.equal(code, 2, err);
    assert.match(err, expected);
    assert.equal(err.trim().split("\n").length, 1, err);
  }
  assert.ok(!existsSync(join("runs", "discover-wrong-1")));
  const out = join(folder, "invalid");
  const invalid = broken("invalid", `score: (text) => (text === "a" ? 1 : undefined), ${moves}`);
  const { code, err } = await inProcess(["discover", invalid, "--evaluations", "20", "--out", out]);
  assert.equal(code, 1, err);
  assert.match(err, /none of the \d+ candidates that were made is valid/);
});

test("a model behind an API writes whole candidates, which it is told the scores of", async () => {
  const asked: string[] = [];
  const url = await chatServer((body) => {
    const { messages } = body as { readonly messages: readonly { readonly content: string }[] };
    const text = messages.map(({ content }) => content).join("\n");
    asked.push(text);
    // one more 1 than in the candidate, or once nonsense
    const candidate = /^[01]( [01]){11}$/m.exec(text)![0];
    if (asked.length === 3) return "I cannot.";
    return `Better:\n\`\`\`\n${candidate.replace("0", "1")}\n\`\`\``;
  });
  const out = join(folder, "chat");
  const model = ["--chat", url, "--model", "tiny", "--cache", join(folder, "cache")];
  const size = ["--groups", "1", "--group-size", "2", "--evaluations", "21"];
  process.env.OPENAI_API_KEY ??= "sk-test";
  const few = ["--cache", join(folder, "other cache"), "--max-calls", "1", "--out", join(folder, "few")];
  const stopped = await inProcess(["discover", problem("few"), ...model, ...size, ...few]);
  assert.equal(stopped.code, 1, stopped.err);
  assert.match(stopped.err, /1 calls of 1 used/);
  asked.length = 0;
  const { code, err } = await inProcess(["discover", problem("asked"), ...model, ...size, "--out", out]);
  assert.equal(code, 0, err);
  const { score, lineage, evaluations } = readJson(out);
  assert.equal(evaluations, 21);
  assert.ok(score > 4 && lineage.length > 4, `${score}`);
  // the last one is the evaluation that ends every run
  assert.match(asked.at(-2)!, /twelve 0s and 1s[\s\S]*Its score is \d/);
});

test("what a model wrote as the best candidate steers no terminal", async () => {
  const file = join(folder, "steering.ts");
  writeFileSync(
    file,
    `export default {
       name: "steering", summary: "anything", starts: ["a"], optimum: 2,
       score: (text) => text.length,
       moves: { of: () => ["more"], apply: (text) => text + "\\u001b[2J\\u202e" },
     };`,
  );
  const out = join(folder, "steering");
  const { code, out: said } = await inProcess(["discover", file, "--evaluations", "20", "--out", out]);
  assert.equal(code, 0);
  assert.match(said, /a\\u001b\[2J\\u202e/);
  assert.ok(!said.includes("\u001b") && !said.includes("\u202e"));
});
