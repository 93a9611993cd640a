import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-keys-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "store", "keys.sqlite");
const keys = (...args: string[]) => inProcess(["keys", ...args, "--store", file]);

test("a key is shown once, listed without its secret, and revoked by its label", async () => {
  assert.match((await keys("list")).out, /No keys yet.*whetstone(?: --)? keys create/);
  const made = await keys("create", "app", "--scope", "chat", "feedback", "--expires", "30d", "--json");
  assert.equal(made.code, 0);
  const { secret, id, scopes, created, expires } = JSON.parse(made.out);
  assert.match(secret, /^wst_/);
  assert.deepEqual([scopes, expires - created], [["chat", "feedback"], 30 * 86_400_000]);
  const listed = await keys("list");
  assert.match(listed.out, new RegExp(`app +${id} +chat feedback .* live until`));
  for (const text of [listed.out, (await keys("list", "--json")).out, readFileSync(file, "latin1")]) {
    assert.ok(!text.includes(secret.slice(-43)));
  }
  assert.equal((await keys("create", "app", "--scope", "read")).code, 2);
  const wrong = await keys("revoke", "apq");
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /Did you mean app\?/);
  assert.match((await keys("revoke", "app")).out, /revoked/);
  assert.match((await keys("list")).out, /app .* revoked 2/);
  // the label is free again
  assert.equal((await keys("create", "app", "--scope", "read")).code, 0);
});

test("a budget is said when the key is made and in the list, and refused where the key can call no model", async () => {
  const made = await keys("create", "intern", "--scope", "chat", "--budget", "5/day");
  assert.match(
    made.out,
    /Its scopes: chat; its budget: \$5\/day\. Running servers accept it within two seconds\./,
  );
  await keys("create", "guest", "--scope", "admin", "chat", "--budget", "20");
  assert.equal((await keys("create", "ops", "--scope", "admin", "--budget", "20")).code, 2);
  const { out } = await keys("list");
  assert.match(out, /intern .* \$5\/day /);
  assert.match(out, /guest .* \$20 in all /);
  const refused = await keys("create", "reader", "--scope", "read", "--budget", "5/day");
  assert.equal(refused.code, 2);
  assert.match(
    refused.err,
    /--budget: got "5\/day" for a key of scope read, expected a key that can call models/,
  );
  assert.doesNotMatch((await keys("list")).out, /reader/);
});
