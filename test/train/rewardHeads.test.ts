/** Reward models on the local engine: their loss, and what their heads come to tell apart. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import { areaUnderCurve } from "../../src/evaluator/agreement.ts";
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
  const { model, heads, left } = await trainRewardHeads({
    ...{ engine, labels: labelled(0, 300), seed: 1, steps: 150, learningRate: 3e-3, contextTokens: 16 },
    onStep: (_, loss) => losses.push(loss),
  });
  assert.deepEqual([heads.toSorted(), left], [["facts", "tone"], 0]);
  // heads that say nothing yet: ln 2 a label, whatever the number of labels and heads
  assert.ok(Math.abs(losses[0]! - Math.LN2) < 0.1, `${losses[0]}`);
  const judge = headsJudge(model, heads);
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
  const { model, heads, left } = await trainRewardHeads({
    ...{ engine, labels, seed: 2, steps: 120, learningRate: 3e-3, contextTokens: 16 },
  });
  assert.deepEqual([heads, left], [["overall"], 1]);
  const { compare } = headsJudge(model, heads);
  const [good, bad] = [
    judgedItem("say", "rude right kind wrong", "a"),
    judgedItem("say", "kind right rude wrong", "b"),
  ];
  const forward = (await compare(good, bad, call))!;
  assert.ok(forward > 0.9, `${forward}`);
  assert.ok(Math.abs(forward + (await compare(bad, good, call))! - 1) < 1e-6);
  await model.dispose();
});
