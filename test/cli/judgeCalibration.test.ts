/** `whetstone judge --fit-calibration` and `--calibration`: a judge that is too sure, brought back by labels of people. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-calibration-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
function written(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

/** Replies that say how good they are, and labels of people who find so many of them good. */
const labelsFrom = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => {
    const random = randomStream("calibration").split(from + i);
    const worth = 0.05 + 0.9 * random.next();
    return JSON.stringify({
      prompt: `question ${from + i}`,
      reply: worth.toFixed(3),
      label: Number(random.next() < worth),
    });
  }).join("\n");
const labels = written("labels.jsonl", labelsFrom(0, 600));
const unseen = written("unseen.jsonl", labelsFrom(5000, 5600));
const transcripts = written(
  "transcripts.jsonl",
  ["0.200", "0.500", "0.800"].map((reply) => JSON.stringify({ prompt: "p", reply })).join("\n"),
);
/** Says σ(3 logit p) where p is right: temperature 3 mends it. */
const sure = written(
  "sure.ts",
  `const odds = (reply) => 3 * Math.log(Number(reply) / (1 - Number(reply)));
export default {
  name: "sure",
  score: async (items) => items.map(({ reply }) => ({ score: 1 / (1 + Math.exp(-odds(reply))) })),
};`,
);
const judge = (...args: string[]) => inProcess(["judge", ...args]);

test("a correction that is fitted to labels is right on others, and corrects scores", async () => {
  const file = at("calibration.json");
  const fit = ["--against", labels, "--evaluator", sure, "--repeats", "0", "--fit-calibration", file];
  const fitted = await judge(...fit);
  assert.equal(fitted.code, 0, fitted.err);
  assert.match(
    fitted.out,
    /Written: .*calibration\.json, by (a temperature|isotonic regression); calibration error 0\.1\d, with it 0\.0\d/,
  );
  const again = await judge(...fit);
  assert.equal(again.code, 2);
  assert.match(again.err, /--fit-calibration: got .*calibration\.json, an existing file/);

  const on = async (...more: string[]) => {
    const { code, out, err } = await judge("--against", unseen, "--evaluator", sure, "--json", ...more);
    assert.equal(code, 0, err);
    return JSON.parse(out);
  };
  const [plain, corrected] = [await on(), await on("--calibration", file)];
  const [before, after] = [plain, corrected].map(({ calibration }) => calibration.error.mean);
  assert.ok(after < before / 2, `${before} and ${after}`);
  assert.notEqual(plain.version, corrected.version);

  const scores = at("scores.jsonl");
  const scored = await judge(transcripts, "--evaluator", sure, "--calibration", file, "--out", scores);
  assert.equal(scored.code, 0, scored.err);
  const values = readFileSync(scores, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).score);
  [0.2, 0.5, 0.8].forEach((right, i) => {
    assert.ok(Math.abs(values[i] - right) < 0.1, `${values[i]} for ${right}`);
  });
});

test("a judge of pairs is corrected where it compares, and its scores are not", async () => {
  const pairs = written(
    "pairs.jsonl",
    Array.from({ length: 400 }, (_, i) => {
      const random = randomStream("pairs").split(i);
      const [a, b] = [random.next(), random.next()];
      const better = 1 / (1 + Math.exp(2 * (b - a)));
      const preferred = random.next() < better ? "a" : "b";
      return JSON.stringify({ prompt: `question ${i}`, a: a.toFixed(3), b: b.toFixed(3), preferred });
    }).join("\n"),
  );
  const comparing = written(
    "comparing.ts",
    `export default {
  name: "comparing",
  compare: async (a, b) => 1 / (1 + Math.exp(8 * (Number(b.reply) - Number(a.reply)))),
  score: async (items) => items.map(({ reply }) => ({ score: Number(reply) })),
};`,
  );
  const file = at("of-pairs.json");
  const asked = ["--against", pairs, "--evaluator", comparing, "--json", "--repeats", "0"];
  const fitted = await judge(...asked, "--fit-calibration", file);
  assert.equal(fitted.code, 0, fitted.err);
  const { fitted: what, calibration } = JSON.parse(fitted.out);
  assert.ok(what.after < what.before, JSON.stringify(what));
  const corrected = await judge(...asked, "--calibration", file);
  assert.ok(JSON.parse(corrected.out).calibration.error.mean < calibration.error.mean / 2, corrected.out);
  const scored = await judge(
    transcripts,
    "--evaluator",
    comparing,
    "--calibration",
    file,
    "--out",
    at("never.jsonl"),
  );
  assert.equal(scored.code, 2);
  assert.match(
    scored.err,
    /a correction that was fitted to pairs, expected one that was fitted to single replies/,
  );
});

test("where no correction helps none is written, and what cannot be is one clear line", async () => {
  const honest = written(
    "honest.ts",
    `export default { name: "honest", score: async (items) => items.map(({ reply }) => ({ score: Number(reply) })) };`,
  );
  const none = await judge("--against", labels, "--evaluator", honest, "--fit-calibration", at("none.json"));
  assert.equal(none.code, 0, none.err);
  assert.match(none.out, /Not written: .*none\.json, since no correction lowers/);
  assert.ok(!existsSync(at("none.json")));

  const file = at("calibration.json");
  const refused: [string[], RegExp][] = [
    [["--against", labels, "--evaluator", honest, "--calibration", file], /a correction of another judge/],
    [
      ["--against", labels, "--judge", sure, "--judge", honest, "--fit-calibration", at("two.json")],
      /--fit-calibration: got 2 judges, expected one judge/,
    ],
    [
      ["--against", labels, "--evaluator", sure, "--calibration", file, "--fit-calibration", at("new.json")],
      /--fit-calibration: got it with --calibration/,
    ],
    [
      [transcripts, "--evaluator", sure, "--fit-calibration", at("new.json"), "--out", at("never.jsonl")],
      /--fit-calibration: got it with .*transcripts\.jsonl, expected what is fitted needs labels/,
    ],
    [["--against", labels, "--evaluator", sure, "--calibration", labels], /expected a correction that/],
  ];
  for (const [args, said] of refused) {
    const { code, err } = await judge(...args);
    assert.equal(code, 2, args.join(" "));
    assert.match(err, said);
    assert.equal(err.trim().split("\n").length, 1, err);
  }
});
