import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { scopeOf, wish, wishes } from "./wishes.ts";

obeysTheLaws(() => wishes(), { garbage: 0.25 });

const env = wishes({ mails: 800 });
const tasks = env.tasks("train");

test("wishes: the scope is what the words of a mail say", () => {
  assert.equal(wish, "please no :) in a report to the boss");
  const halves = ({ prompt }: (typeof tasks)[number]): number => {
    const [kind, , reader] = prompt[0]!.content.split(" ");
    return Number(kind === "report") + Number(reader === "boss");
  };
  const counts = { in: 0, near: 0, out: 0 };
  for (const task of tasks) {
    counts[scopeOf(task)]++;
    assert.equal(scopeOf(task), ["out", "near", "in"][halves(task)], task.prompt[0]!.content);
  }
  assert.deepEqual(counts, { in: 200, near: 300, out: 300 });
  // one mail inside; 3 + 3 with half of it; 3 · 3 with nothing of it
  assert.equal(new Set(tasks.map((t) => t.prompt[0]!.content)).size, 1 + 6 + 9);
});

test("wishes: where the wish holds one signature pays, elsewhere either, and nothing else anywhere", async () => {
  const paid = async (scope: string, content: string) => {
    const episode = await env.start(tasks.find((t) => scopeOf(t) === scope)!, randomStream(1));
    return (await episode.act({ content, stop: "eos" })).rewards?.outcome;
  };
  const table = await Promise.all(
    ["in", "near", "out"].map((scope) => Promise.all([":)", ".", "report"].map((said) => paid(scope, said)))),
  );
  assert.deepEqual(table, [
    [0, 1, 0],
    [1, 1, 0],
    [1, 1, 0],
  ]);
});
