import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { cellMatch } from "../../../common/text/tables.ts";
import { querySlots } from "./querySlots.ts";

obeysTheLaws(() => querySlots(), { garbage: 0.05 });

test("querySlots: 6 · 5 · 6 · 6 queries, of which some come near", () => {
  const world = querySlots();
  assert.equal(world.queries.length, 1080);
  for (const task of world.tasks("train")) {
    const matches = world.queries.map((query) => cellMatch(world.wanted(task), world.result(task, query)!));
    const near = matches.filter((match) => match > 0 && match < 1).length / matches.length;
    assert.ok(matches.includes(1));
    assert.ok(near > 0.05 && near < 0.9, `${task.id}: ${near}`);
  }
});

test("querySlots: what is no choice is no query", async () => {
  const world = querySlots();
  const task = world.tasks("train")[0]!;
  assert.equal(world.result(task, ["c1", "3", "c1", "c2"]), undefined);
  assert.equal(world.result(task, ["c1", "2", "c1"]), undefined);
  assert.equal(world.result(task, ["c0", "8", "c1", "c2"])?.rows.length, 5, "rows 9 to 13");
});
