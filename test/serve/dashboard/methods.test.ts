import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue } from "../../../src/methods/catalogue.ts";
import type { MethodDetail, MethodsPage } from "../../../src/serve/dashboard/types.ts";
import { world } from "./world.ts";

test("the catalogue is listed in its order, and found by what it is about", async (t) => {
  const { get } = await world(t);
  const all = await get<MethodsPage>("/api/methods");
  assert.deepEqual(
    all.methods.map(({ id }) => id),
    catalogue.map(({ id }) => id),
  );
  assert.equal(all.total, catalogue.length);
  assert.deepEqual([...new Set(catalogue.map(({ family }) => family))], all.families);
  const found = await get<MethodsPage>(
    `/api/methods?query=${encodeURIComponent("PPO whose steps are turns")}`,
  );
  assert.ok(found.methods.slice(0, 3).some(({ id }) => id === "turn-ppo"));
  assert.equal(found.total, catalogue.length);
  assert.ok(
    found.methods.every(({ why = "" }) => why !== "") && all.methods.every(({ why }) => why === undefined),
  );
});

test("a method is shown with its slots, those lit in which it differs, and the command to run it", async (t) => {
  const { get, refused } = await world(t);
  const shown = await get<MethodDetail>("/api/methods/turn-ppo");
  const lit = shown.slots.filter(({ differs }) => differs).map(({ slot }) => slot);
  assert.deepEqual([...lit].sort(), [...shown.differs].sort());
  assert.ok(lit.includes("feedback") && lit.length < shown.slots.length);
  assert.match(shown.command, /^npx whetstone train .*--method turn-ppo/);
  const { status, message } = await refused("/api/methods/alchemy");
  assert.deepEqual([status, message], [404, "There is no method alchemy in the catalogue."]);
});

test("every method of the catalogue has a page", async (t) => {
  const { request } = await world(t);
  for (const { id } of catalogue) {
    const { status } = await request(`/api/methods/${encodeURIComponent(id)}`);
    assert.equal(status, 200, id);
  }
});
