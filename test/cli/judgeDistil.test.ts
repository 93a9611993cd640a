/** `whetstone judge --distil`: a small judge fitted to another one, and what is lost. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-distil-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
function written(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

const words = "red green blue round flat warm cold loud calm sweet".split(" ");
/** Replies of five words; what makes one good is that it has more of the first five words than of the others. */
const replyFrom = (seed: number, side: string): string => {
  const random = randomStream(seed).split(side);
  return Array.from({ length: 5 }, () => words[random.below(words.length)]!).join(" ");
};
const worth = (reply: string): number =>
  reply.split(" ").reduce((sum, word) => sum + (words.indexOf(word) < 5 ? 1 : -1), 0);
const labelsOf = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => {
    const [a, b] = [replyFrom(from + i, "a"), replyFrom(from + i, "b")];
    const by = worth(a) - worth(b);
    return JSON.stringify({
      prompt: `question ${from + i}`,
      a,
      b,
      preferred: by > 0 ? "a" : by < 0 ? "b" : "tie",
    });
  }).join("\n");
const labels = written("labels.jsonl", labelsOf(0, 200));
const unseen = written("unseen.jsonl", labelsOf(1000, 1100));
const source = `const good = ${JSON.stringify(words.slice(0, 5))};
const worth = (reply) => reply.split(" ").reduce((sum, word) => sum + (good.includes(word) ? 1 : -1), 0);
`;
const teacher = written(
  "teacher.ts",
  `${source}export default { name: "teacher", compare: async (a, b) => 1 / (1 + Math.exp(worth(b.reply) - worth(a.reply))) };`,
);

test("a student of a teacher that goes by words agrees with it on held-out labels, and its file is a judge", async () => {
  const student = at("student.json");
  const args = ["judge", "--against", labels, "--evaluator", teacher, "--repeats", "0", "--distil", student];
  const { code, out, err } = await inProcess([...args, "--json"]);
  assert.equal(code, 0, err);
  const report = JSON.parse(out);
  assert.equal(report.student.agreement.n, 200);
  // ties of the teacher are a choice too, which a student of real numbers never makes: the AUC leaves them out
  assert.ok(report.student.auc.mean > 0.97, JSON.stringify(report.student.auc));
  assert.ok(report.student.accuracy.mean < report.accuracy.mean);
  const again = await inProcess(args);
  assert.equal(again.code, 2);
  assert.match(again.err, /--distil: got .*student\.json, an existing file/);
  const fresh = await inProcess([
    "judge",
    "--against",
    unseen,
    "--judge",
    student,
    "--repeats",
    "0",
    "--json",
  ]);
  assert.equal(fresh.code, 0, fresh.err);
  assert.ok(JSON.parse(fresh.out).auc.mean > 0.97);
  const text = await inProcess([...args.slice(0, -1), at("other.json")]);
  assert.match(
    text.out,
    /teacher +200 of 200[\s\S]*student, held out +200 of 200[\s\S]*Written: .*other\.json/,
  );
});

test("a student of a teacher that tosses coins is no better than a coin on held-out labels", async () => {
  const coin = written(
    "coin.ts",
    'export default { name: "coin", compare: async (a, b, { random }) => Number(random.next() < 0.5) };',
  );
  const args = ["judge", "--against", labels, "--evaluator", coin, "--repeats", "0", "--json"];
  const { out } = await inProcess([...args, "--distil", at("coin.json")]);
  const { auc } = JSON.parse(out).student;
  assert.ok(auc.low < 0.5 && auc.high > 0.5 && auc.mean < 0.65, JSON.stringify(auc));
});

test("single replies: the student scores them; scores on another scale, and files that are no student, are one clear line", async () => {
  const replies = written(
    "replies.jsonl",
    Array.from({ length: 150 }, (_, i) => {
      const reply = replyFrom(i, "a");
      return JSON.stringify({ prompt: `q${i}`, reply, label: Number(worth(reply) > 0) });
    }).join("\n"),
  );
  const scorer = (name: string, scale: number): string =>
    written(
      `${name}.ts`,
      `${source}export default { name: "scorer", score: async (items) => items.map(({ reply }) => ({ score: ${scale} / (1 + Math.exp(-worth(reply))) })) };`,
    );
  const of = (judge: string, file: string): string[] => [
    ...["judge", "--against", replies, "--evaluator", judge, "--repeats", "0", "--json"],
    ...["--distil", file],
  ];
  const { code, out, err } = await inProcess(of(scorer("scorer", 1), at("scores.json")));
  assert.equal(code, 0, err);
  const { student } = JSON.parse(out);
  // the teacher counts a word twice that is there twice, which the student does not see
  assert.ok(student.agreement.low > 0.75 && student.auc.mean > 0.93, JSON.stringify(student));
  const wide = await inProcess(of(scorer("wide", 10), at("wide.json")));
  assert.equal(wide.code, 2);
  assert.match(wide.err, /got the judge's answers: some lie outside of 0 to 1/);
  assert.ok(!existsSync(at("wide.json")));
  const none = await inProcess(["judge", "--against", replies, "--judge", written("none.json", "{}")]);
  assert.equal(none.code, 2);
  assert.match(none.err, /none\.json: got .*expected a judge that --distil or --fit wrote/);
});
