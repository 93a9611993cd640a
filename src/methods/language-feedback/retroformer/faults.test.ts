import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { faultOf, faults } from "./faults.ts";

obeysTheLaws(() => faults(), { garbage: 0.3 });

const environment = faults({ machines: 40, kinds: 4, worth: 0.5, gain: 0.5 });
const tasks = [...environment.tasks("train"), ...environment.tasks("test")];
const repaired = async (task: Task, content: string) =>
  (await environment.start(task, randomStream(1))).act({ content, stop: "eos" });

test("a symptom asks for one repair, the same on every machine, and is told after a wrong one", async () => {
  const helps = new Map<string, string>();
  for (const task of tasks) {
    const { symptom, repair } = faultOf(task);
    assert.equal(helps.get(symptom) ?? repair, repair);
    helps.set(symptom, repair);
    const wrong = await repaired(task, repair === "r0" ? "r1" : "r0");
    const right = await repaired(task, repair);
    assert.deepEqual([wrong.text, right.text], [`symptom ${symptom}`, undefined]);
    const [before, after] = [wrong.rewards!.outcome!, right.rewards!.outcome!];
    assert.ok(before >= 0 && before <= 0.5 && Math.abs(after - before - 0.5) < 1e-12);
  }
  assert.equal(new Set(helps.values()).size, 4);
});

test("machines look alike and differ in worth, unless all are worth nothing", () => {
  assert.equal(new Set(tasks.map(({ prompt }) => prompt[0]!.content)).size, 1);
  assert.ok(new Set(tasks.map(({ metadata }) => metadata.worth)).size > 50);
  for (const { metadata } of faults().tasks("train")) assert.equal(metadata.worth, 0);
});
