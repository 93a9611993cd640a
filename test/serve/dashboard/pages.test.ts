import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isOlder } from "../../../src/serve/dashboard/built.ts";
import { temporary } from "../../temporary.ts";
import { world } from "./world.ts";

test("every path is the one page, under a policy that lets nothing else run", async (t) => {
  const { folder, request } = await world(t);
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  for (const path of ["/", "/runs/a/episode?id=1", "/methods/turn-ppo"]) {
    const answer = await request(path);
    assert.equal(await answer.text(), "<!doctype html>");
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(answer.headers.get("cache-control"), "no-cache");
  }
});

test("a page names its own scripts in the head of the answer, as the build wrote them down", async (t) => {
  const { folder, request } = await world(t);
  writeFileSync(join(folder, "index.html"), "page");
  const scripts = { "/runs/:id": ["assets/run.js", "assets/chart.js"], "/runs/:id/tasks": ["assets/t.js"] };
  writeFileSync(join(folder, "scripts.json"), JSON.stringify(scripts));
  const linked = async (path: string) => (await request(path)).headers.get("link");
  const run = "</assets/run.js>; rel=modulepreload, </assets/chart.js>; rel=modulepreload";
  assert.equal(await linked("/runs/a%2Fb"), run);
  assert.equal(await linked("/runs/a/?x=1"), run);
  assert.equal(await linked("/runs/a/tasks"), "</assets/t.js>; rel=modulepreload");
  for (const path of ["/", "/runs", "/runs/a/other", "/methods/runs/a"])
    assert.equal(await linked(path), null);
});

test("pages are older than their sources once anything among these changed", (t) => {
  const folder = mkdtempSync(join(temporary, "whetstone-built-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [page, source] = [join(folder, "index.html"), join(folder, "web", "pages", "run.tsx")];
  mkdirSync(join(folder, "web", "pages"), { recursive: true });
  for (const file of [page, source]) writeFileSync(file, "");
  for (const at of [join(folder, "web"), join(folder, "web", "pages"), source]) utimesSync(at, 100, 100);
  utimesSync(page, 200, 200);
  assert.equal(isOlder(page, join(folder, "web")), false);
  utimesSync(source, 300, 300);
  assert.equal(isOlder(page, join(folder, "web")), true);
});

test("files are kept by browsers for good, and nothing outside their folder is sent", async (t) => {
  const { folder, request } = await world(t);
  writeFileSync(join(folder, "index.html"), "page");
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "assets", "a.js"), `"${"x".repeat(5000)}"`);
  const script = await request("/assets/a.js", { headers: { "accept-encoding": "gzip" } });
  assert.match(script.headers.get("content-type") ?? "", /^text\/javascript/);
  assert.match(script.headers.get("cache-control") ?? "", /immutable/);
  assert.equal(script.headers.get("content-encoding"), "gzip");
  assert.ok((await script.arrayBuffer()).byteLength < 500);
  assert.equal((await request("/assets/b.js")).status, 404);
  for (const path of ["/assets/..%2fwhetstone.sqlite", "/assets/%2e%2e/whetstone.sqlite"]) {
    const text = await (await request(path)).text();
    assert.doesNotMatch(text, /SQLite/);
  }
});

test("data that is not there is said to be missing in JSON, not as a page", async (t) => {
  const { refused, request } = await world(t);
  const { status, message } = await refused("/api/nothing");
  assert.deepEqual([status, message], [404, "There is no /api/nothing here."]);
  // another site's page asks for nothing
  const foreign = await request("/api/runs", { headers: { origin: "https://evil.example" } });
  assert.equal(foreign.status, 403);
});
