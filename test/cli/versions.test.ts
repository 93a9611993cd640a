import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { traffic, version } from "../release/traffic.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-versions-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "store.sqlite");
const versions = (...args: string[]) => inProcess(["versions", ...args, "--store", file]);
const upstream = ["--upstream", "http://127.0.0.1:9001/v1", "--model"];

test("a candidate's way: added, split, judged, promoted", async () => {
  assert.equal((await versions("list")).code, 2); // no store yet
  assert.equal((await versions("add", ...upstream, "base")).code, 0);
  assert.match(
    (await versions("add", ...upstream, "tuned", "--parent", "base")).out,
    /base-.*=0.95 tuned-.*=0.05/,
  );
  assert.match((await versions("add", ...upstream, "tuned")).out, /already in the store/);
  assert.match(
    (await versions("list")).out,
    /No split: the version that the gateway is started with.*it cannot choose among 2 versions/,
  );
  assert.equal(JSON.parse((await versions("list", "--json")).out.split("\n")[0]!).share, null);
  const asked = await versions("split", "base=0.5", "tuned=50%");
  assert.deepEqual([asked.code, /nobody to ask/.test(asked.err)], [2, true]);
  // the same split was made two hours ago, and people said what they think
  const production = await openTrafficStore(file);
  const [base, tuned] = (await production.versions()).map((v) => v.id);
  const since = Date.now() - 2 * 3_600_000;
  const before = {
    id: "before",
    shares: { [base!]: 0.5, [tuned!]: 0.5 },
    unit: "session",
    since,
    why: "halves",
  } as const;
  await production.addSplit(before);
  await traffic(production, before, { sessions: 300, from: since, liked: (v) => (v === tuned ? 0.9 : 0.4) });
  await production.close();
  const made = await versions("split", "base=0.5", "tuned=50%", "--yes", "--json");
  assert.deepEqual(JSON.parse(made.out).shares, before.shares);
  const { out } = await versions("judge");
  assert.match(out, /tuned-\w+ against base-\w+: PROMOTE, the mean reward is higher/);
  assert.match(out, /length +10 +10 +x2 +kept/);
  const judged = JSON.parse(
    (await versions("judge", "--channel", "thumbs", "--limit", "none", "--json")).out,
  );
  assert.deepEqual(judged.judgements[0].guardrails, []);
  assert.match(
    (await versions("promote", "tuned", "--why", "better", "--yes")).out,
    /Now: tuned-\w+ 100.0 %.*\(better\)/,
  );
  assert.match((await versions("watch", "--once")).out, /tuned-\w+ alone/);
  assert.match((await versions("rollback", "tuned", "--yes")).err, /the only version in the split/);
});

test("who answers without a split, and why a version has no mean yet, as it is", async () => {
  const young = join(folder, "young.sqlite");
  const production = await openTrafficStore(young);
  const said = async (...args: string[]) => (await inProcess(["versions", ...args, "--store", young])).out;
  assert.match(await said("judge"), /without one of these options it does not start\. Create/);
  await production.addVersion(version("base"));
  assert.match(await said("judge"), /without these options, the only version answers/);
  const since = Date.now() - 60_000;
  const split = { id: "young", shares: { base: 1 }, unit: "session", since, why: "begun" } as const;
  await production.addSplit(split);
  assert.match(await said("judge"), /no calls answered/);
  // thumbs have come for all of them, and their hour is not over
  await traffic(production, split, { sessions: 20, from: since, liked: () => 1 });
  const open = await said("judge");
  assert.match(open, /base +100\.0 % +0 +20 +unknown until the first feedback window closes/);
  assert.match(open, /20 open: feedback on a unit counts until 1 h 00 min after its first response/);
  const closed = await said("judge", "--window", "30s");
  assert.match(closed, /base +100\.0 % +20 +0 +1 \[/);
  assert.match(await said("judge", "--window", "30s", "--channel", "stars"), /no reward yet/);
  await production.close();
});

test("a version of a store that has none yet is to be added first", async () => {
  const empty = join(folder, "empty.sqlite");
  await (await openTrafficStore(empty)).close();
  const { code, err } = await inProcess(["versions", "split", "base=1", "--yes", "--store", empty]);
  assert.deepEqual([code, /none yet.*versions add --upstream/.test(err)], [2, true], err);
});

test("what is wrong is said by name", async () => {
  const refused = async (says: RegExp, ...args: string[]): Promise<void> => {
    const { code, err } = await versions(...args);
    assert.equal(code, 2);
    assert.match(err, says);
  };
  await refused(/Did you mean tuned\?/, "promote", "tunde", "--yes");
  await refused(/version=share/, "split", "base", "--yes");
  await refused(/add up to 1.5/, "split", "base=1", "tuned=0.5", "--yes");
  await refused(/both --bandit and/, "split", "base=1", "--bandit", "--yes");
  await refused(/nothing that could answer/, "add");
  await refused(/Did you mean latency\?/, "judge", "--limit", "latncy=x2");
  await refused(/--range/, "judge", "--range", "1,0");
});

test("an order of versions, with time-outs and further tries of its members", async () => {
  const other = ["--store", join(folder, "order.sqlite")];
  const add = (...args: string[]) => inProcess(["versions", "add", ...args, ...other, "--json"]);
  const read = async (made: ReturnType<typeof add>) => JSON.parse((await made).out);
  const first = await read(add(...upstream, "first", "--timeout", "90s", "--retries", "2"));
  assert.deepEqual([first.backend.timeout, first.backend.retries], [90_000, 2]);
  const second = await read(add(...upstream, "second"));
  const order = await read(add("--first-of", "first, second"));
  assert.deepEqual(order.backend, { kind: "firstOf", versions: [first.id, second.id] });
  const { out } = await inProcess(["versions", "list", ...other]);
  assert.match(out, /the first that answers of first-/);
  assert.match((await add("--first-of", "first")).err, /two or more/);
  assert.match((await add("--first-of", "first,third")).err, /third/);
  assert.match((await add(...upstream, "x", "--retries", "11")).err, /--retries/);
});
