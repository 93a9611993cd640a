import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryPairs } from "../../src/env/toolWorld/pairs.ts";
import { trajectoryComparison } from "../../src/env/toolWorld/trajectoryComparison.ts";
import { deskAfter } from "../../src/env/toolWorld/world.ts";

const actions = (t: { readonly turns: readonly { readonly action: { readonly content: string } }[] }) =>
  t.turns.map((turn) => turn.action.content);
const pairs = trajectoryPairs({ count: 300, blocks: [1, 3, 6], seed: 3 });

test("trajectoryPairs: the better one breaks no rule, the worse one does; edits break exactly one", () => {
  for (const { task, chosen, rejected, labels } of pairs) {
    const [good, bad] = [deskAfter(task, actions(chosen)), deskAfter(task, actions(rejected))];
    assert.deepEqual([good.over, good.broken.size], [true, 0]);
    assert.ok(bad.over && bad.broken.size > 0);
    if (labels.source === "edit") assert.equal(bad.broken.size, 1);
    // tools answer to what was really done
    for (const [k, turn] of rejected.turns.entries()) {
      if (k > 0)
        assert.equal(turn.prompt.at(-1)!.content, deskAfter(task, actions(rejected).slice(0, k)).said);
    }
  }
});

test("trajectoryPairs: sources, families and lengths are as asked for, and equal seeds give equal pairs", () => {
  const share = (label: string, value: string): number =>
    pairs.filter((p) => p.labels[label] === value).length / pairs.length;
  assert.ok(share("source", "natural") > 0.55 && share("source", "natural") < 0.8);
  assert.ok(share("source", "edit") > 0.1 && share("source", "edit") < 0.35);
  assert.ok(share("family", "safety") > 0.02 && share("family", "safety") < 0.15);
  assert.equal(share("blocks", "6"), 1 / 3);
  assert.deepEqual(trajectoryPairs({ count: 20, blocks: [1, 3, 6], seed: 3 }), pairs.slice(0, 20));
  const words = (t: (typeof pairs)[number]["chosen"]): number => actions(t).join(" ").split(" ").length;
  const natural = pairs.filter((p) => p.labels.source === "natural" && p.labels.family !== "safety");
  const [better, worse] = [natural.map((p) => words(p.chosen)), natural.map((p) => words(p.rejected))];
  const sum = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum(better) / sum(worse) - 1) < 0.05, "lengths give nothing away");
});

test("trajectoryComparison: each pair in both orders, the pair's own label right in each", () => {
  const judge = trajectoryComparison({ pairs: 8 });
  const tasks = judge.tasks("test");
  assert.equal(tasks.length, 2 * judge.pairs("test").length);
  assert.deepEqual(
    tasks.slice(0, 4).map((t) => t.reference),
    ["first", "second", "first", "second"],
  );
  const [, one, two] = /first : (.*) \. second : (.*) \. which/.exec(tasks[0]!.prompt[0]!.content)!;
  assert.ok(tasks[1]!.prompt[0]!.content.includes(`first : ${two} . second : ${one} .`));
});
