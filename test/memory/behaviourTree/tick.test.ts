import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTree } from "../../../src/memory/behaviourTree/parse.ts";
import { running, tick } from "../../../src/memory/behaviourTree/tick.ts";
import type { Grammar, Leaf, Situation, Status } from "../../../src/memory/behaviourTree/tree.ts";

const grammar: Grammar = { facts: ["f", "g"], skills: ["a", "b", "c", "idle"] };
const treeOf = (text: string) => parseTree(text, grammar);
const situation = (last?: Status, facts: readonly string[] = []): Situation => ({
  facts: new Set(facts),
  ...(last && { last }),
});
const skillOf = (leaf: Leaf): string => (leaf.kind === "action" ? leaf.skill : leaf.name);

/** One tick in which skills go as said, in order: what was done, and how it ended. */
function ticked(text: string, went: readonly Status[], facts: readonly string[] = []) {
  const ticking = tick(treeOf(text), situation(undefined, facts));
  const done: string[] = [];
  let step = ticking.next();
  for (const last of went) {
    assert.ok(!step.done, "the tick ended before everything was said");
    done.push(skillOf(step.value));
    step = ticking.next(situation(last, facts));
  }
  assert.ok(step.done, "the tick goes on");
  return `${done.join(" ")} ${step.value.status}`.trim();
}

const sequence = "sequence\n  do a\n  do b\n  do c";
const selector = "selector\n  do a\n  do b\n  do c";

test("sequence: goes on while children succeed; ends with the first that fails or is running", () => {
  assert.equal(ticked(sequence, ["success", "success", "success"]), "a b c success");
  assert.equal(ticked(sequence, ["success", "failure"]), "a b failure");
  assert.equal(ticked(sequence, ["failure"]), "a failure");
  assert.equal(ticked(sequence, ["success", "running"]), "a b running");
  assert.equal(ticked(sequence, ["running"]), "a running");
});

test("selector: goes on while children fail; ends with the first that succeeds or is running", () => {
  assert.equal(ticked(selector, ["failure", "failure", "failure"]), "a b c failure");
  assert.equal(ticked(selector, ["failure", "success"]), "a b success");
  assert.equal(ticked(selector, ["success"]), "a success");
  assert.equal(ticked(selector, ["failure", "running"]), "a b running");
  assert.equal(ticked(selector, ["running"]), "a running");
});

test("running is neither failure nor success, however deep it comes from", () => {
  const nested = "selector\n  sequence\n    do a\n    do b\n  do c";
  assert.equal(ticked(nested, ["success", "running"]), "a b running");
  assert.equal(ticked(nested, ["success", "failure", "success"]), "a b c success");
  assert.equal(ticked("sequence\n  selector\n    do a\n    do b\n  do c", ["running"]), "a running");
});

test("condition: costs no turn, and guards what comes after it", () => {
  const guarded = "selector\n  sequence\n    if f\n    if not g\n    do a\n  do b";
  assert.equal(ticked(guarded, ["success"], ["f"]), "a success");
  assert.equal(ticked(guarded, ["success"], ["f", "g"]), "b success");
  assert.equal(ticked(guarded, ["success"], []), "b success");
  assert.equal(ticked("if f", [], ["f"]), "success");
  assert.equal(ticked("if f", []), "failure");
});

test("a leaf after which nothing is said of a status has failed", () => {
  const ticking = tick(treeOf("do a"), situation());
  ticking.next();
  const end = ticking.next(situation());
  assert.ok(end.done && end.value.status === "failure");
});

test("running: after running the next tick begins at the root, so that what stands first can interrupt", () => {
  const run = running(treeOf("selector\n  sequence\n    if f\n    do a\n  do b"), situation(), {
    idle: "idle",
  });
  const done = [run.next().value];
  for (const seen of [
    situation("running"),
    situation("running", ["f"]),
    situation("running", ["f"]),
    situation("success"),
  ])
    done.push(run.next(seen).value);
  assert.deepEqual(done.map(skillOf), ["b", "b", "a", "a", "b"]);
});

test("running: a tick with nothing to do idles for a turn; after the last tick it idles for ever", () => {
  const idling = running(treeOf("sequence\n  if f\n  do a"), situation(), { idle: "idle" });
  assert.deepEqual([idling.next().value, idling.next(situation("success", ["f"])).value].map(skillOf), [
    "idle",
    "a",
  ]);
  // two ticks: a and b in the first, a in the second, which is running
  const spent = running(treeOf(sequence.replace("\n  do c", "")), situation(), { idle: "idle", ticks: 2 });
  const done = [spent.next().value];
  for (const last of ["success", "success", "running", "success", "success"] as const)
    done.push(spent.next(situation(last)).value);
  assert.deepEqual(done.map(skillOf), ["a", "b", "a", "idle", "idle", "idle"]);
});
