import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { ledger, valuesAsked } from "./ledger.ts";

obeysTheLaws(() => ledger(), { garbage: 0.2 });

test("ledger: an answer is paid for the values it names in any order, with as many words as there are questions", async () => {
  const environment = ledger({ questions: 3 });
  const task = environment.tasks("train")[0]!;
  const [a = "", b = "", c = ""] = valuesAsked(task);
  for (const [content, outcome] of [
    [`${c} ${a} ${b}`, 1],
    [`${a} ${a} ${b}`, 2 / 3],
    [`n1 ${a} n2 ${b}`, 1 / 3],
    [`n1 n2 n3 ${a} ${b} ${c}`, 0],
  ] as const) {
    const episode = await environment.start(task, randomStream(1));
    const { rewards, end } = await episode.act({ content, stop: "eos" });
    assert.deepEqual(rewards, { outcome });
    assert.equal(end?.kind === "done" && end.success, outcome === 1);
  }
});

test("ledger: every page has its value among chatter", async () => {
  const environment = ledger({ questions: 4, noise: 5 });
  const task = environment.tasks("test")[1]!;
  const episode = await environment.start(task, randomStream(1));
  for (const value of valuesAsked(task)) {
    await episode.act({ content: "next", stop: "eos" });
    const { observation } = await episode.observe();
    const words = observation.messages[0]!.content.split(" ");
    assert.equal(words.length, 6);
    assert.deepEqual(
      words.filter((word) => word.startsWith("v")),
      [value],
    );
  }
});

test("ledger: pages differ in length between the fewest and the most distractors", async () => {
  const environment = ledger({ questions: 8, noise: 3, fewest: 1 });
  const lengths = new Set<number>();
  for (const task of environment.tasks("test").slice(0, 4)) {
    const episode = await environment.start(task, randomStream(1));
    for (const _ of valuesAsked(task)) {
      await episode.act({ content: "next", stop: "eos" });
      const { observation } = await episode.observe();
      lengths.add(observation.messages[0]!.content.split(" ").length);
    }
  }
  assert.deepEqual([...lengths].sort(), [2, 3, 4]);
});

test("ledger: what cannot be is refused", () => {
  assert.throws(() => ledger({ noise: 2, fewest: 3 }), { code: "option.range" });
  assert.throws(() => ledger({ questions: 9 }), { code: "option.range" });
  assert.throws(() => ledger({ noise: -1 }), { code: "option.range" });
});
