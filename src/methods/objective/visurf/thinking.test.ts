import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { rightAnswer, thinking } from "./thinking.ts";

obeysTheLaws(() => thinking(), { garbage: 0.15 });

const env = thinking({ thoughts: 2, answers: 3, format: 0.25 });
const task = env.tasks("train")[0]!;
const right = rightAnswer(task);
const wrong = right === "a0" ? "a1" : "a0";

async function worth(reply: string): Promise<Readonly<Record<string, number>>> {
  const turn = { ...turnOf([1], [2]), action: { role: "assistant" as const, content: reply } };
  return env.verify!(task, trajectoryOf("t", [turn]));
}

test("answers and form are paid apart", async () => {
  assert.deepEqual(await worth(`direct ${right}`), { outcome: 1, format: 0 });
  assert.deepEqual(await worth(`think t1 ${right}`), { outcome: 1, format: 0.25 });
  assert.deepEqual(await worth(`think t1 ${wrong}`), { outcome: 0, format: 0.25 });
  assert.deepEqual(await worth(`direct ${wrong}`), { outcome: 0, format: 0 });
});

test("what is in no form pays nothing", async () => {
  const broken = [
    right,
    `think ${right}`,
    `direct t1 ${right}`,
    `think ${right} ${right}`,
    "think t1 t1",
    "",
  ];
  for (const reply of broken) assert.deepEqual(await worth(reply), { outcome: 0, format: 0 }, reply);
});

test("questions differ in their answers", () => {
  const all = [...thinking({ questions: 40 }).tasks("train"), ...thinking({ questions: 40 }).tasks("test")];
  assert.equal(new Set(all.map(rightAnswer)).size, 8);
});
