/** Reward models on the local engine: their loss, and what their heads come to tell apart. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import { areaUnderCurve } from "../../src/evaluator/agreement.ts";
import { aspectJudge } from "../../src/evaluator/aspectJudge.ts";
import { judgedItem } from "../../src/evaluator/judgedItem.ts";
import type { Labels } from "../../src/evaluator/labels.ts";
import { headsJudge, trainRewardHeads } from "../../src/train/rewardHeads.ts";

const engine = localEngine({
  threads: 1,
  size: { width: 32, layers: 1, heads: 2, kvHeads: 2, feedForward: 64 },
});
after(() => engine.dispose());
const call = { random: randomStream(1) };

const words = ["kind", "rude", "right", "wrong"];
const replyOf = (seed: number): string => {
  const random = randomStream(seed).split("reply");
  return Array.from({ length: 4 }, () => words[random.below(4)]!).join(" ");
};
/** The last word of an aspect decides: no count of words tells it. */
const last = (reply: string, good: string, bad: string): number | undefined => {
  const found = reply.split(" ").findLast((word) => word === good || word === bad);
  return found === undefined ? undefined : Number(found === good);
};
const said = (reply: string) => ({ tone: last(reply, "kind", "rude"), facts: last(reply, "right", "wrong") });
const labelled = (from: number, to: number): Labels => ({
  kind: "replies",
  labels: Array.from({ length: to - from }, (_, i) => replyOf(from + i)).flatMap((reply) =>
    Object.entries(said(reply)).flatMap(([aspect, label]) =>
      label === undefined ? [] : [{ prompt: "say", reply, aspect, label: label === 1 ? 1 : 0 } as const],
    ),
  ),
});

test("two heads on one model learn two aspects of single replies", async () => {
  const losses: number[] = [];
  const { model, left, ...trained } = await trainRewardHeads({
    ...{ engine, labels: labelled(0, 300), seed: 1, steps: 150, learningRate: 3e-3, contextTokens: 16 },
    onStep: (_, loss) => losses.push(loss),
  });
  assert.deepEqual([trained.heads.toSorted(), left], [["facts", "tone"], 0]);
  // heads that say nothing yet: ln 2 a label, whatever the number of labels and heads
  assert.ok(Math.abs(losses[0]! - Math.LN2) < 0.1, `${losses[0]}`);
  const judge = headsJudge(model, trained);
  const unseen = [...new Set(Array.from({ length: 200 }, (_, i) => replyOf(5000 + i)))];
  const scores = (await judge.score(
    unseen.map((reply, i) => judgedItem("say", reply, `${i}`)),
    call,
  ))!;
  for (const aspect of ["tone", "facts"] as const) {
    const known = unseen.flatMap((reply, i) => {
      const label = said(reply)[aspect];
      return label === undefined ? [] : [{ label: label === 1, score: scores[i]![aspect]! }];
    });
    const area = areaUnderCurve(
      known.map(({ score }) => score),
      known.map(({ label }) => label),
    );
    assert.ok(area > 0.95, `${aspect}: ${area}`);
    assert.ok(known.every(({ score }) => score >= 0 && score <= 0.5));
    const alone = (await judge.aspects!.get(aspect)!.score!([judgedItem("say", unseen[0]!, "0")], call))!;
    assert.ok(Math.abs(alone[0]![aspect]! - 2 * scores[0]![aspect]!) < 1e-6);
  }
  const long = Array.from({ length: 20 }, () => "kind").join(" ");
  assert.equal(await judge.score([judgedItem("say", long, "long")], call), undefined);
  await model.dispose();
});

test("a head learns from pairs: which reply comes first is of no consequence, and what is too long is left out and counted", async () => {
  const pairs = Array.from({ length: 300 }, (_, i) => [replyOf(2 * i), replyOf(2 * i + 1)] as const).flatMap(
    ([a, b]) => {
      const [first, second] = [last(a, "kind", "rude"), last(b, "kind", "rude")];
      if (first === undefined || second === undefined) return [];
      return [
        { prompt: "say", a, b, preferred: first > second ? "a" : first < second ? "b" : "tie" } as const,
      ];
    },
  );
  const long = Array.from({ length: 30 }, () => "rude").join(" ");
  const labels: Labels = {
    kind: "pairs",
    labels: [...pairs, { prompt: "say", a: "kind", b: long, preferred: "a" }],
  };
  const { model, left, ...trained } = await trainRewardHeads({
    ...{ engine, labels, seed: 2, steps: 120, learningRate: 3e-3, contextTokens: 16 },
  });
  assert.deepEqual([trained.heads, left], [["overall"], 1]);
  const { compare } = headsJudge(model, trained);
  const [good, bad] = [
    judgedItem("say", "rude right kind wrong", "a"),
    judgedItem("say", "kind right rude wrong", "b"),
  ];
  const forward = (await compare(good, bad, call))!;
  assert.ok(forward > 0.9, `${forward}`);
  assert.ok(Math.abs(forward + (await compare(bad, good, call))! - 1) < 1e-6);
  await model.dispose();
});

test("each label counts once, whoever else says something of the same reply; any name is a head's", async () => {
  // nine say that it is good, one that it is not: the head comes to 0.9 of them, beside one label of another reply
  const of = (label: 0 | 1, n: number, aspect: string) =>
    Array.from({ length: n }, () => ({ prompt: "say", reply: "kind", label, aspect }));
  const labels: Labels = {
    kind: "replies",
    labels: [
      ...of(1, 9, "__proto__"),
      ...of(0, 1, "__proto__"),
      { prompt: "say", reply: "rude", label: 0, aspect: "x" },
    ],
  };
  const losses: number[] = [];
  const { model, ...trained } = await trainRewardHeads({
    ...{ engine, labels, seed: 3, steps: 200, learningRate: 3e-3, contextTokens: 16 },
    onStep: (_, loss) => losses.push(loss),
  });
  const judge = headsJudge(model, trained).aspects!.get("__proto__")!;
  const [score] = (await judge.score!([judgedItem("say", "kind", "a")], call))!;
  assert.ok(Math.abs(Object.values(score!)[0]! - 0.9) < 0.02, JSON.stringify(score));
  // 10 of 11 labels with the entropy of 0.9, one that is known
  const least = (10 / 11) * -(0.9 * Math.log(0.9) + 0.1 * Math.log(0.1));
  assert.ok(losses.at(-1)! > least - 1e-6 && losses.at(-1)! < least + 0.02, `${losses.at(-1)} ${least}`);
  await model.dispose();
});

test("labels that are all too long, and a step of none, are refused", async () => {
  const labels = labelled(0, 10);
  const fitting = { engine, labels, seed: 1, steps: 1 };
  await assert.rejects(trainRewardHeads({ ...fitting, contextTokens: 4 }), /all longer than 4 tokens/);
  await assert.rejects(trainRewardHeads({ ...fitting, batch: 0 }), /a batch of 0/);
});

test("two replies that are both surely good are alike, however far apart their log-odds; for pairs these say which one is better", async () => {
  const odds = { good: 9, better: 14, bad: -9 };
  const judge = (fittedTo: "pairs" | "replies") =>
    aspectJudge<keyof typeof odds>("j", fittedTo, [{ name: "x", weight: 1 }], async (items) =>
      items.map((item) => [odds[item]]),
    );
  const ofReplies = judge("replies");
  assert.ok(Math.abs((await ofReplies.compare("better", "good", call))! - 0.5) < 1e-3);
  assert.ok((await ofReplies.compare("good", "bad", call))! > 0.999);
  assert.ok((await judge("pairs").compare("better", "good", call))! > 0.99);
});
