import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError, WhetstoneError } from "../../src/core/errors.ts";
import type { Evaluator } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import { replyFeatures } from "../../src/evaluator/bias.ts";
import type { JudgedItem } from "../../src/evaluator/judgedItem.ts";
import { judgeReport } from "../../src/evaluator/judgeReport.ts";
import { judgeTrial } from "../../src/evaluator/judgeTrial.ts";
import { type Labels, type PairLabel, readLabels } from "../../src/evaluator/labels.ts";

const random = randomStream(1);
const pairs: Labels = {
  kind: "pairs",
  labels: Array.from({ length: 12 }, (_, i) => ({
    prompt: `question ${i}`,
    a: `good ${i}`,
    b: `bad ${i}`,
    preferred: "a" as const,
  })),
};
const isGood = ({ reply }: JudgedItem): number => Number(reply.startsWith("good"));

test("a judge that agrees with everybody, in either order: by comparison, and by scores", async () => {
  const judges: readonly Evaluator<JudgedItem>[] = [
    { name: "compares", compare: async (first, second) => (1 + isGood(first) - isGood(second)) / 2 },
    { name: "scores", score: async (items) => items.map((item) => ({ score: isGood(item) })) },
    {
      name: "scores attempts",
      score: async (items) =>
        items.map(({ trajectory }) => ({
          score: trajectory.turns[0]!.action.content.startsWith("good") ? 3 : 1,
        })),
    },
  ];
  for (const judge of judges) {
    const report = judgeReport(pairs, await judgeTrial(judge, pairs, { random }));
    assert.deepEqual([report.accuracy?.mean, report.auc.mean, report.swap?.mean], [1, 1, 1], judge.name);
    assert.equal(report.calls.answered, 36);
    assert.equal(report.repetition?.n, 12);
    const position = report.biases.find(({ name }) => name === "position")!;
    assert.equal(position.verdict, "not found");
    assert.equal(report.biases.find(({ name }) => name === "self-preference")!.verdict, "not measured");
  }
});

test("in other words: asked once more where a label has some, and only what was rephrased is changed", async () => {
  const seen: string[] = [];
  const judge: Evaluator<JudgedItem> = {
    name: "goes by a word",
    score: async (items) => {
      seen.push(...items.map(({ asked, reply }) => `${asked}: ${reply}`));
      return items.map((item) => ({ score: isGood(item) }));
    },
  };
  const [first, second, ...others] = pairs.labels as readonly PairLabel[];
  const labels: Labels = {
    kind: "pairs",
    labels: [
      { ...first!, rephrased: { a: "good as well" } },
      { ...second!, rephrased: { prompt: "said otherwise", a: "fine", b: "good" } },
      ...others,
    ],
  };
  const report = judgeReport(labels, await judgeTrial(judge, labels, { random }));
  // the first keeps its choice, the second changes it, ten have no other words
  assert.deepEqual([report.rephrasing?.mean, report.rephrasing?.n], [0.5, 2]);
  assert.equal(report.calls.answered, 38);
  for (const text of ["question 0: good as well", "said otherwise: fine", "said otherwise: good"])
    assert.ok(seen.includes(text), text);
  assert.equal(judgeReport(pairs, await judgeTrial(judge, pairs, { random })).rephrasing, undefined);

  const replies: Labels = {
    kind: "replies",
    labels: [
      { prompt: "p", reply: "good", label: 1, rephrased: { reply: "fine" } },
      { prompt: "q", reply: "good", label: 1, rephrased: { prompt: "said otherwise" } },
    ],
  };
  assert.equal(judgeReport(replies, await judgeTrial(judge, replies, { random })).rephrasing?.mean, 0.5);
});

test("calls that fail, are late or do not fit are counted, are no 0, and end nothing", async () => {
  const failed = new WhetstoneError("chat.failed", {
    where: "model",
    got: "500",
    expected: "a reply",
    fix: "Wait.",
  });
  const answers = [
    () => Promise.reject(failed),
    () => Promise.reject(new TypeError("the judge's own mistake")),
    () => new Promise<number>(() => {}),
    () => Promise.resolve(undefined),
    () => Promise.resolve(Number.NaN),
    () => Promise.resolve(1.5),
    () => Promise.reject(Object.assign(new Error("late"), { name: "TimeoutError" })),
  ];
  const judge: Evaluator<JudgedItem> = {
    name: "unsteady",
    compare: (first, second) => {
      const at = Number(first.reply.split(" ")[1]);
      return answers[at]?.() ?? Promise.resolve((1 + isGood(first) - isGood(second)) / 2);
    },
  };
  const judged = await judgeTrial(judge, pairs, { random, repeats: 0, timeoutSeconds: 0.05 });
  const report = judgeReport(pairs, judged);
  assert.deepEqual(report.calls, {
    answered: 10,
    failed: 4,
    "timed out": 4,
    "off schema": 6,
    "not asked": 0,
    abstained: 0,
  });
  assert.equal(report.judged, 5);
  assert.equal(report.accuracy?.mean, 1, "a call without an answer is no wrong answer");
  assert.match(report.firstFailure ?? "", /500/);
});

test("a spent budget ends the asking, and what was answered is reported", async () => {
  const spent = new WhetstoneError("budget.spent", {
    where: "chat",
    got: "3 calls",
    expected: "2",
    fix: "Raise it.",
  });
  let calls = 0;
  const judge: Evaluator<JudgedItem> = {
    name: "dear",
    compare: async () => {
      if (++calls > 4) throw spent;
      return 0.5;
    },
  };
  let before = Promise.resolve();
  const limit = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = before.then(work);
    before = mine.then(() => {});
    return mine;
  };
  const { calls: counts, judged } = judgeReport(
    pairs,
    await judgeTrial(judge, pairs, { random, repeats: 0, limit }),
  );
  assert.deepEqual([counts.answered, counts["not asked"], judged, calls], [4, 20, 2, 5]);
});

test("a trial that is stopped ends with the reason, though a call never ends", async () => {
  const stop = new AbortController();
  const judge: Evaluator<JudgedItem> = { name: "slow", compare: () => new Promise(() => {}) };
  const trial = judgeTrial(judge, pairs, { random, stop: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(trial, /enough/);
});

test("single replies: scores against 0 and 1; on another scale there is an AUC alone", async () => {
  const labels: Labels = {
    kind: "replies",
    labels: Array.from({ length: 20 }, (_, i) => ({
      prompt: `q${i}`,
      reply: `${i % 2 ? "good" : "bad"} ${i}`,
      label: i % 2 ? 1 : 0,
    })),
  };
  const of = (scale: number): Evaluator<JudgedItem> => ({
    name: "scores",
    score: async (items) => items.map((item) => ({ score: scale * (isGood(item) ? 0.9 : 0.2) })),
  });
  const report = judgeReport(labels, await judgeTrial(of(1), labels, { random }));
  assert.deepEqual([report.accuracy?.mean, report.kappa?.mean, report.auc.mean], [1, 1, 1]);
  // half the labels are said 0.9 and came 1, half 0.2 and came 0
  assert.ok(Math.abs(report.calibration!.error.mean - 0.15) < 1e-12);
  assert.ok(report.calibration!.error.low < 0.15 && report.calibration!.error.high > 0.15);
  // it is always on the right side: the surer, the better, and no temperature is best
  assert.equal(report.calibration!.temperature, undefined);
  assert.equal(report.swap, undefined);
  const constant: Evaluator<JudgedItem> = {
    name: "constant",
    score: async (items) => items.map(() => ({ score: 0.7 })),
  };
  const flat = judgeReport(labels, await judgeTrial(constant, labels, { random }));
  assert.deepEqual([flat.calibration, flat.uncalibrated], [undefined, "the judge always says the same"]);
  const good = { ...labels, labels: labels.labels.map((one) => ({ ...one, label: 1 as const })) };
  assert.equal(
    judgeReport(good, await judgeTrial(of(1), good, { random })).uncalibrated,
    "all labels are the same",
  );
  const sure: Evaluator<JudgedItem> = {
    name: "sure",
    score: async (items) => items.map((item) => ({ score: Number(isGood(item)) })),
  };
  const right = judgeReport(labels, await judgeTrial(sure, labels, { random })).calibration!.error;
  assert.ok(right.mean === 0 && right.high > 0.1, "an error of 0 has an interval, too");
  const wide = judgeReport(labels, await judgeTrial(of(10), labels, { random }));
  const { auc, accuracy, kappa, calibration, repetition } = wide;
  assert.equal(auc.mean, 1);
  assert.deepEqual([accuracy, kappa, calibration, repetition], Array(4).fill(undefined));
});

test("features of a reply: markup and appeals to authority are told from plain words", () => {
  const of = (name: string) => replyFeatures.find((feature) => feature.name === name)!.of;
  for (const text of ["- one", "1. one", "## Head", "so **bold** it is", "```ts\n1\n```", "| a | b |"])
    assert.equal(of("format")(text), 1, text);
  for (const text of ["one - two", "2 * 3 * 4", "in 1999 it rained", "#tag"])
    assert.equal(of("format")(text), 0, text);
  for (const text of [
    "According to Kant",
    "experts say",
    "studies show it",
    "see https://a.example",
    "so [3]",
    "Dr. No",
  ])
    assert.equal(of("authority")(text), 1, text);
  for (const text of ["I study hard", "it works", "a drop", "array[i]"])
    assert.equal(of("authority")(text), 0, text);
  // a reply of empty lines once took the square of its length: minutes
  const began = performance.now();
  for (const text of ["\n", " ", "| ", "1", "**a", "according "])
    for (const { of: value } of replyFeatures) value(text.repeat(200_000));
  assert.ok(performance.now() - began < 2000);
  assert.equal(of("length")("x".repeat(7)) - of("length")("x".repeat(3)), 1, "one unit is a doubling");
});

test("readLabels reads both kinds, and names the line of what is wrong and what belongs there", () => {
  const good = '{"prompt":"p","a":"x","b":"y","preferred":"a"}';
  assert.equal(readLabels(`\ufeff${good}\r\n\n${good}\n`, "l.jsonl").labels.length, 2);
  assert.equal(readLabels('{"prompt":"p","reply":"x","label":0,"own":true}', "l.jsonl").kind, "replies");
  const words = readLabels(`${good.slice(0, -1)},"rephrased":{"a":"z"}}`, "l.jsonl").labels[0];
  assert.deepEqual(words?.rephrased, { a: "z" });
  const cases: readonly (readonly [string, RegExp])[] = [
    [`${good}\n{"prompt":`, /^l\.jsonl, line 2: got text that is no JSON.*expected a JSON object/],
    [`${good}\n\n[1]`, /^l\.jsonl, line 3: got a list/],
    [
      `${good}\n{"prompt":"p","a":"x","b":"y","preferred":"c"}`,
      /line 2: got "preferred": .*expected \{"prompt", "a", "b"/,
    ],
    [`${good}\n{"prompt":"p","reply":"x","label":1}`, /line 2: .*two files/],
    ['{"prompt":"p","reply":"x","label":0.5}', /line 1: got "label": .*"label": 0 or 1/],
    [`${good.slice(0, -1)},"prefered":"b"}`, /line 1: got .*prefered/],
    [`${good.slice(0, -1)},"rephrased":{"c":"z"}}`, /line 1: .*"rephrased"/],
    ["\n", /^l\.jsonl: got no labels/],
  ];
  for (const [text, said] of cases)
    assert.throws(
      () => readLabels(text, "l.jsonl"),
      (e) => isWhetstoneError(e) && e.code === "import.invalid" && said.test(e.message),
      text,
    );
});

test("a judge that is always right has no interval without width, and repeated labels of a group add little", async () => {
  const labelled = (groups: number, each: number): Labels => ({
    kind: "replies",
    labels: Array.from({ length: groups * each }, (_, i) => ({
      prompt: `q${i}`,
      reply: `${i % 2 ? "good" : "bad"} ${i}`,
      label: i % 2 ? 1 : 0,
      group: `g${Math.floor(i / each)}`,
    })),
  });
  const judge: Evaluator<JudgedItem> = {
    name: "right",
    score: async (items) => items.map((item) => ({ score: isGood(item) })),
  };
  const reportOf = async (labels: Labels) => judgeReport(labels, await judgeTrial(judge, labels, { random }));
  const few = await reportOf(labelled(10, 20));
  for (const found of [few.accuracy!, few.kappa!, few.auc, few.repetition!]) {
    assert.deepEqual([found.mean, found.high], [1, 1]);
    // Wilson's for 10 of 10, and not for 200 of 200, which begins at 0.98; kappa twice as far, by chance of one half
    assert.ok(found.low > 0.4 && found.low < 0.75, JSON.stringify(found));
  }
  const paired = judgeReport(
    pairs,
    await judgeTrial({ name: "right", compare: async (a, b) => (1 + isGood(a) - isGood(b)) / 2 }, pairs, {
      random,
    }),
  );
  for (const found of [paired.accuracy!, paired.auc, paired.swap!])
    assert.ok(found.low < 0.8 && found.high === 1);
});
