import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { TrafficSplit, Version } from "../../src/core/served.ts";
import { gate } from "../../src/serve/auth.ts";
import { mintKey } from "../../src/serve/keys.ts";
import type { ErrorBody } from "../../src/serve/refusal.ts";
import { type JudgementBody, type VersionsBody, versionRoutes } from "../../src/serve/versions.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { traffic } from "../release/traffic.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-versions-"));
const production = await openTrafficStore(join(folder, "store.sqlite"));
after(async () => {
  await production.close();
  rmSync(folder, { recursive: true, force: true });
});

const clock = { at: 1_800_000_000_000 };
const now = (): number => clock.at;
const door = gate({ production, open: true, signing: randomBytes(32), now });
const app = versionRoutes({ production, gate: door, release: { now } });
const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  app.request(`http://localhost${path}`, {
    method,
    headers: { host: "localhost", "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
async function json<T>(answer: Response | Promise<Response>): Promise<T> {
  return JSON.parse(await (await answer).text());
}
const upstream = { url: "http://127.0.0.1:9001/v1", model: "base" };

test("versions are added once, split, and judged", async () => {
  const made = await ask("POST", "/v1/versions", { ...upstream, note: "the first" });
  assert.equal(made.status, 201);
  const base = await json<Version>(made);
  assert.equal(base.backend.kind, "upstream");
  assert.equal((await ask("POST", "/v1/versions", upstream)).status, 200);
  const tuned = await json<Version>(
    ask("POST", "/v1/versions", { ...upstream, model: "tuned", parent: base.id }),
  );
  assert.equal(tuned.parent, base.id);
  assert.equal((await json<VersionsBody>(ask("GET", "/v1/versions"))).split, null);
  const split = await json<TrafficSplit>(
    ask("POST", "/v1/splits", { shares: { [base.id]: 0.5, [tuned.id]: 0.5 }, why: "halves" }),
  );
  assert.equal(split.unit, "session");
  const { versions, split: last } = await json<VersionsBody>(ask("GET", "/v1/versions"));
  assert.deepEqual([versions.map((v) => v.name), last?.why], [["base", "tuned"], "halves"]);
  const judged = async () => (await json<JudgementBody>(ask("GET", "/v1/versions/judgement"))).judgements[0]!;
  assert.equal((await judged()).decision, "hold");
  await traffic(production, split, {
    sessions: 300,
    from: clock.at,
    liked: (v) => (v === tuned.id ? 0.9 : 0.4),
  });
  clock.at += 2 * 3_600_000;
  assert.equal((await judged()).decision, "promote");
  assert.equal((await json<{ splits: TrafficSplit[] }>(ask("GET", "/v1/splits"))).splits.length, 1);
});

test("a version that several add at once is one, and nobody is refused", async () => {
  const same = { url: "http://127.0.0.1:9002/v1", model: "at-once" };
  const answers = await Promise.all(
    ["a", "b", "c"].map((note) => ask("POST", "/v1/versions", { ...same, note })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 201]);
  const made = await Promise.all(answers.map((answer) => json<Version>(answer)));
  assert.equal(new Set(made.map(({ id, note }) => `${id} ${note}`)).size, 1);
});

test("however long a version's name, its id is one that a split can name", async () => {
  const model = "m".repeat(256);
  const made = await json<Version>(ask("POST", "/v1/versions", { ...upstream, model }));
  assert.equal(made.name, model);
  assert.ok(made.id.length < 120);
  assert.equal((await ask("POST", "/v1/splits", { shares: { [made.id]: 1 } })).status, 201);
});

test("what is wrong is said, and nothing is written", async () => {
  const refused = async (path: string, body: unknown, says: RegExp): Promise<void> => {
    const answer = await ask("POST", path, body);
    assert.equal(answer.status, 400);
    assert.match((await json<ErrorBody>(answer)).error.message, says);
  };
  const splits = (await production.splits()).length;
  await refused("/v1/splits", { shares: { nobody: 1 } }, /expected one of|Did you mean/);
  await refused("/v1/splits", { shares: {} }, /no shares/);
  await refused("/v1/splits", { shares: { a: "1" } }, /shares\.a/);
  await refused("/v1/versions", { url: "file:///etc/passwd" }, /http/);
  await refused("/v1/versions", { url: "http://169.254.169.254/v1" }, /./);
  await refused("/v1/versions", { ...upstream, parent: "nobody" }, /parent/);
  await refused("/v1/versions", { ...upstream, kind: "run", folder: "/" }, /Unrecognized|kind/);
  assert.equal((await production.splits()).length, splits);
});

test("what a version is told is checked as on the command line, and nothing wrong is written", async () => {
  const [base] = await production.versions();
  assert.ok(base);
  const told = (body: unknown) => ask("POST", "/v1/versions", body);
  const instructions = { name: "dates", kind: "instructions", files: { "system.md": "Ask for the date." } };
  const guide = {
    name: "hints",
    kind: "guide",
    files: { "frame.md": "Hint: {hint}", "guide.json": '{ "policy": "small" }' },
  };
  const over = base.id;
  const cases: readonly [body: unknown, says: RegExp][] = [
    [{ artefact: "dates", over }, /artefact: got "dates".*the store has none yet/],
    [{ artefact: instructions, over: "base" }, /over: got "base", expected one of base-/],
    [{ artefact: instructions, over, guide: base.id }, /guide: .*no guide \(instructions\)/],
    [{ artefact: guide, over }, /guide: got nobody/],
    [
      { artefact: { ...guide, files: { ...guide.files, "frame.md": "Hint" } }, over, guide: over },
      /\{hint\}/,
    ],
    [{ artefact: { ...instructions, files: { "system.txt": "x" } }, over }, /Did you mean system\.md\?/],
    [{ artefact: { ...instructions, files: { "tools.json": "{" } }, over }, /tools\.json/],
    [
      { artefact: { name: "short", kind: "rubrics", files: { "rubrics.md": "## skill\n\nShort." } }, over },
      /rubrics of a judge, which cannot be applied to a version/,
    ],
    [{ artefact: { ...instructions, kind: "prompt" }, over }, /artefact\.kind/],
    [{ artefact: { ...instructions, parents: ["0000"] }, over }, /artefact\.parents/],
    [{ artefact: instructions, over, parent: "nobody" }, /parent/],
    [{ artefact: instructions, over, url: "http://127.0.0.1:9001/v1" }, /Unrecognized.*url/],
  ];
  const before = (await production.versions()).length;
  for (const [body, says] of cases) {
    const answer = await told(body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match((await json<ErrorBody>(answer)).error.message, says);
  }
  assert.equal((await production.versions()).length, before);
  assert.deepEqual(await production.artefacts.list(), []);
});

test("no secret of this machine is sent to a new place", async () => {
  const body = { url: "https://elsewhere.example/v1", keyEnv: "PATH" };
  const answer = await ask("POST", "/v1/versions", body);
  assert.equal(answer.status, 400);
  assert.match((await json<ErrorBody>(answer)).error.message, /keyEnv/);
});

test("reading needs read, changing needs admin, and narrowed keys see nothing", async () => {
  const bearer = async (key: Parameters<typeof mintKey>[0]): Promise<Record<string, string>> => {
    const minted = mintKey(key, now());
    await production.putKey(minted.key);
    door.changed();
    return { authorization: `Bearer ${minted.secret}` };
  };
  const read = await bearer({ label: "read", scopes: ["read"] });
  const narrow = await bearer({ label: "narrow", scopes: ["read", "admin"], only: { session: "s" } });
  const status = async (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    (await ask(method, path, body, headers)).status;
  for (const path of ["/v1/versions", "/v1/versions/judgement", "/v1/splits"]) {
    assert.equal(await status("GET", path, read), 200);
    assert.equal(await status("GET", path, narrow), 403);
  }
  assert.equal(await status("POST", "/v1/versions", read, upstream), 403);
  const told = { artefact: { name: "a", kind: "instructions", files: {} } };
  assert.equal(await status("POST", "/v1/versions", read, told), 403);
  assert.equal(await status("POST", "/v1/splits", read, { shares: {} }), 403);
  assert.equal(await status("POST", "/v1/versions", narrow, upstream), 403);
  assert.equal(await status("POST", "/v1/splits", narrow, { shares: {} }), 403);
});
