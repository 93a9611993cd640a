import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { all, served, signal } from "../store/served.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-forget-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "store.sqlite");
const forget = (...args: string[]) => inProcess(["forget", ...args, "--store", file]);

test("a user is forgotten after a yes, and the receipt says what went", async () => {
  const store = await openTrafficStore(file);
  for (const user of ["ann-12345678", "bob-12345678"]) {
    await store.write([
      { kind: "response", response: served(`session-of-${user}`, 0, { user }) },
      { kind: "signal", signal: signal(`of-${user}`, { about: [{ session: `session-of-${user}` }] }) },
    ]);
  }
  await store.close();

  const unasked = await forget("--user", "ann-12345678");
  assert.equal(unasked.code, 2);
  assert.match(unasked.err, /nobody to ask.*--yes/);
  const said = await forget("--user", "ann-12345678", "--yes");
  assert.equal(said.code, 0);
  assert.match(said.out, /1 responses, 1 signals\nSearched.*nothing is left/);
  assert.match(said.out, /Not searched: .*backups/);
  const old = await forget("--before", "2026-01-01", "--yes", "--json");
  const { type, responses, gone } = JSON.parse(old.out);
  assert.deepEqual({ type, responses, gone }, { type: "erasure", responses: 1, gone: true });

  const again = await openTrafficStore(file);
  assert.deepEqual(await all(again.responses()), []);
  assert.ok(!JSON.stringify(await again.erasures()).includes("ann-12345678"));
  await again.close();
});

test("the receipt says how many responses of other users went with a user's sessions", async () => {
  const shared = join(folder, "shared.sqlite");
  const store = await openTrafficStore(shared);
  const users = ["ann-12345678", "bob-12345678", "bob-12345678", undefined];
  for (const [turn, user] of users.entries())
    await store.write([{ kind: "response", response: served("in-common", turn, user ? { user } : {}) }]);
  await store.close();
  const { out } = await inProcess(["forget", "--user", "ann-12345678", "--yes", "--store", shared]);
  assert.match(out, /4 responses \(2 of other users, in the same sessions\), 0 signals\n/);
});

test("wrong words are said before anything is opened", async () => {
  for (const [args, words] of [
    [[], /^whetstone: forget: got no user, session or date, expected/],
    [["--user", "a", "--session", "b"], /cannot be used with/],
    [["--before", "soon"], /"soon".*2026-01-01/],
    [["--before", "2999-01-01"], /a past date/],
  ] as const) {
    const { code, err } = await forget(...args);
    assert.equal(code, 2);
    assert.match(err, words);
  }
  const nowhere = await inProcess(["forget", "--user", "a", "--store", join(folder, "none.sqlite")]);
  assert.match(nowhere.err, /none\.sqlite, which is not there/);
});
