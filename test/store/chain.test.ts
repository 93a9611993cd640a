/** Chains of responses, also such as no store writes: a file may come from anybody. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { freshFile } from "./each.ts";
import { all, served } from "./served.ts";

test("a chain that leads back into itself ends, alone and in a list", { timeout: 60_000 }, async () => {
  const file = freshFile();
  const store = await openTrafficStore(file);
  for (let turn = 0; turn < 4; turn++) await store.write([{ kind: "response", response: served("s", turn) }]);
  assert.deepEqual(await store.response("response-s-3"), served("s", 3));
  await store.close();

  const database = new DatabaseSync(file);
  const { base } = database.prepare("select base from responses where id = 'response-s-3'").get()!;
  assert.equal(base, "response-s-2");
  database.exec("update responses set base = 'response-s-3' where id = 'response-s-1'");
  database.exec("update responses set base = id where id = 'response-s-0'");
  database.close();

  const again = await openTrafficStore(file);
  // what they say is as broken as the file; that they answer or refuse is all that counts
  await again.response("response-s-3").catch(() => {});
  await again.response("response-s-0").catch(() => {});
  await all(again.responses()).catch(() => {});
  await again.close();
});
