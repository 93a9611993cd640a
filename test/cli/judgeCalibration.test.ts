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

const fit = (file: string, evaluator = sure, against = labels) => [
  ...["--against", against, "--evaluator", evaluator, "--repeats", "0"],
  ...["--fit-calibration", at(file)],
];
/** Scores of a judge as they are written to a file. */
async function scoresOf(file: string, out: string, ...args: string[]): Promise<(number | null)[]> {
  const { code, err } = await judge(file, "--out", at(out), ...args);
  assert.equal(code, 0, err);
  const lines = readFileSync(at(out), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line).score);
}

test("a correction that is fitted to labels is right on others, and corrects scores", async () => {
  const fitted = await judge(...fit("calibration.json"));
  assert.equal(fitted.code, 0, fitted.err);
  assert.match(
    fitted.out,
    /Written: \S*calibration\.json, by (a temperature|isotonic regression), fitted to 600 labels; mean squared error 0\.2\d+, with it 0\.1\d+/,
  );
  const again = await judge(...fit("calibration.json"));
  assert.equal(again.code, 2);
  assert.match(again.err, /--fit-calibration: got .*calibration\.json, an existing file/);

  const on = async (...more: string[]) => {
    const { code, out, err } = await judge("--against", unseen, "--evaluator", sure, "--json", ...more);
    assert.equal(code, 0, err);
    return JSON.parse(out);
  };
  const correction = ["--calibration", at("calibration.json")];
  const [plain, corrected] = [await on(), await on(...correction)];
  const [before, after] = [plain, corrected].map(({ calibration }) => calibration.error.mean);
  assert.ok(after < before / 2, `${before} and ${after}`);
  assert.notEqual(plain.version, corrected.version);

  const values = await scoresOf(transcripts, "scores.jsonl", "--evaluator", sure, ...correction);
  [0.2, 0.5, 0.8].forEach((right, i) => {
    assert.ok(Math.abs(values[i]! - right) < 0.1, `${values[i]} for ${right}`);
  });
});

test("an answer that is none stays none, and a score outside of 0 to 1 is none", async () => {
  const odd = written(
    "odd.ts",
    `import sure from "./sure.ts";
const values = { nan: NaN, seven: 7, late: undefined };
export default {
  name: "odd",
  score: async (items) =>
    Promise.all(items.map(async (item) => item.reply in values ? { score: values[item.reply] } : (await sure.score([item]))[0])),
};`,
  );
  const fitted = await judge(...fit("odd.json", odd));
  assert.equal(fitted.code, 0, fitted.err);
  const file = written(
    "odd.jsonl",
    ["nan", "seven", "late", "0.500"].map((reply) => JSON.stringify({ prompt: "p", reply })).join("\n"),
  );
  const corrected = ["--evaluator", odd, "--calibration", at("odd.json")];
  const values = await scoresOf(file, "odd-scores.jsonl", ...corrected);
  assert.deepEqual(values.slice(0, 3), [null, null, null]);
  assert.ok(Math.abs(values[3]! - 0.5) < 0.1, `${values[3]}`);
});

test("where no correction helps none is written, and the report is there all the same", async () => {
  const honest = written(
    "honest.ts",
    `export default { name: "honest", score: async (items) => items.map(({ reply }) => ({ score: Number(reply) })) };`,
  );
  const turned = written(
    "turned.ts",
    `export default { name: "turned", score: async (items) => items.map(({ reply }) => ({ score: 1 - Number(reply) })) };`,
  );
  const wide = written(
    "wide.ts",
    `export default { name: "wide", score: async (items) => items.map(({ reply }) => ({ score: 10 * Number(reply) })) };`,
  );
  const one = written("one.jsonl", JSON.stringify({ prompt: "p", reply: "0.5", label: 1 }));
  for (const [name, evaluator, against, why] of [
    ["honest.json", honest, labels, /by more than chance/],
    ["turned.json", turned, labels, /one number for all replies/],
    ["wide.json", wide, labels, /not all from 0 to 1/],
    ["one.json", sure, one, /labels of 1 group; 5 are needed/],
  ] as const) {
    const { code, out, err } = await judge(...fit(name, evaluator, against));
    assert.equal(code, 1, name);
    assert.match(err, /^whetstone: no correction is written: /);
    assert.match(err, why);
    assert.match(out, /Agreement with people/);
    assert.ok(!existsSync(at(name)));
  }
});

test("what cannot be fitted or applied is one clear line before anything is asked", async () => {
  const pairs = written("pairs.jsonl", JSON.stringify({ prompt: "p", a: "0.2", b: "0.3", preferred: "b" }));
  const other = written("other.ts", readFileSync(sure, "utf8").replace("3 * Math.log", "2 * Math.log"));
  const steps = (...levels: number[]): string =>
    JSON.stringify({
      ...JSON.parse(readFileSync(at("calibration.json"), "utf8")),
      correction: { by: "isotonic", steps: levels.map((level, i) => ({ from: i / 10, to: i / 10, level })) },
    });
  const falling = written("falling.json", steps(0.5, 0.4));
  const many = written("many.json", steps(...Array.from({ length: 20_000 }, () => 7)));
  const apply = ["--calibration", at("calibration.json")];
  const refused: [string[], RegExp][] = [
    [["--against", labels, "--evaluator", other, ...apply], /a correction of another judge/],
    [["--against", pairs, "--evaluator", sure, ...apply], /--calibration: got it with labels of pairs/],
    [
      fit("new.json", sure, pairs),
      /--fit-calibration: got labels of pairs, expected labels of single replies/,
    ],
    [[...fit("new.json"), "--judge", other], /--fit-calibration: got 2 judges, expected one judge/],
    [[...fit("new.json"), ...apply], /--fit-calibration: got it beside --calibration/],
    [[...fit("new.json"), "--distil", at("new.json")], /new\.json, which --distil writes/],
    [fit("nowhere/new.json"), /--fit-calibration: got .*nowhere is no folder/],
    [
      [...fit("new.json"), "--out", at("never.jsonl")],
      /--out: got it beside --against labels\.jsonl, expected it with scores of a file, a run or a store/,
    ],
    [
      [transcripts, "--evaluator", sure, "--fit-calibration", "", "--out", at("never.jsonl")],
      /--fit-calibration: got it beside scores of a file, a run or a store, expected it with --against labels\.jsonl/,
    ],
    [
      [transcripts, "--evaluator", sure, "--once", "--out", at("never.jsonl")],
      /--once: got it .*, expected it with --live/,
    ],
    [
      ["--against", labels, "--evaluator", sure, "--limit", "3"],
      /--limit: got it beside --against labels\.jsonl/,
    ],
    [
      ["--against", labels, "--evaluator", sure, "--fit-calibration", ""],
      /--fit-calibration: got .*, an existing file/,
    ],
    [["--against", labels, "--evaluator", sure, "--calibration", labels], /expected a correction that/],
    [["--against", labels, "--evaluator", sure, "--calibration", falling], /steps that overlap or fall/],
    [["--against", labels, "--evaluator", sure, "--calibration", many], /correction\.steps\.0\.level/],
  ];
  for (const [args, said] of refused) {
    const { code, err } = await judge(...args);
    assert.equal(code, 2, `${args.join(" ")}: ${err}`);
    assert.match(err, said);
    assert.ok(err.trim().split("\n").length === 1 && err.length < 500, err);
  }
  assert.ok(!existsSync(at("new.json")) && !existsSync(at("never.jsonl")));
});
