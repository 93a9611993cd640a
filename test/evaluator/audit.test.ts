import assert from "node:assert/strict";
import { test } from "node:test";
import type { Evaluator } from "../../src/core/evaluator.ts";
import { type Random, randomStream } from "../../src/core/random.ts";
import { auditReply, auditReport } from "../../src/evaluator/audit.ts";
import { judgeCalls } from "../../src/evaluator/judgeCall.ts";
import { type JudgedItem, judgedItem } from "../../src/evaluator/judgedItem.ts";

const seeds = Array.from({ length: 20 }, (_, i) => i + 1);
const names = ["position", "length", "self-praise", "format", "authority"] as const;
type Name = (typeof names)[number];

/** A noisy judge, whose noise differs from call to call, with what is planted added to its score. */
const judgeWith = (planted: Partial<Record<Name, number>>, noise: Random): Evaluator<JudgedItem> => ({
  name: "planted",
  score: async (items) =>
    items.map(({ reply }, at) => ({
      score:
        0.5 +
        0.1 * noise.normal() +
        (at === 0 && items.length > 1 ? (planted.position ?? 0) : 0) +
        (reply.includes("To put it at greater length") ? (planted.length ?? 0) : 0) +
        (reply.includes("excellent answer") ? (planted["self-praise"] ?? 0) : 0) +
        (reply.startsWith("## ") ? (planted.format ?? 0) : 0) +
        (reply.includes("experts") ? (planted.authority ?? 0) : 0),
    })),
});

async function foundWith(seed: number, planted: Partial<Record<Name, number>>): Promise<readonly string[]> {
  const judge = judgeWith(planted, randomStream(seed).split("noise"));
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      auditReply(judge, judgedItem(`q${i}`, `One. Two ${i}.`, String(i)), randomStream(i), judgeCalls({})),
    ),
  );
  const { biases, confidence } = auditReport(replies);
  assert.equal(confidence, 0.998);
  return biases.flatMap(({ name, verdict }) => (verdict === "found" ? [name] : []));
}

test("a judge without biases is cleared in all 20 seeds", async () => {
  for (const seed of seeds) assert.deepEqual(await foundWith(seed, {}), [], `seed ${seed}`);
});

for (const name of names) {
  test(`${name}: found in all 20 seeds where it alone is planted`, async () => {
    let others = 0;
    for (const seed of seeds) {
      const found = await foundWith(seed, { [name]: 0.15 });
      assert.ok(found.includes(name), `seed ${seed}`);
      others += Number(found.length > 1);
    }
    assert.ok(others <= 1, `${others} of 20`);
  });
}

test("replies that are not answered both ways, or to fewer than ten requests, measure nothing", async () => {
  const failing: Evaluator<JudgedItem> = {
    name: "fails when it is praised",
    score: async (items) =>
      items[0]!.reply.includes("excellent") ? undefined : items.map(() => ({ score: 0.5 })),
  };
  const audited = (n: number) =>
    Promise.all(
      Array.from({ length: n }, (_, i) =>
        auditReply(failing, judgedItem(`q${i}`, "One.", String(i)), randomStream(i), judgeCalls({})),
      ),
    );
  const verdicts = auditReport(await audited(12)).biases.map(({ verdict }) => verdict);
  assert.deepEqual(verdicts, ["not found", "not found", "not measured", "not found", "not found"]);
  assert.ok(auditReport(await audited(9)).biases.every(({ verdict }) => verdict === "not measured"));
});
