import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gate } from "../../src/serve/auth.ts";
import { type Acknowledged, type AcknowledgedList, inbox } from "../../src/serve/inbox.ts";
import type { SessionBody } from "../../src/serve/records.ts";
import type { ErrorBody } from "../../src/serve/refusal.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";
import { served } from "./memory.ts";

test("over a real store: what is acknowledged is there after it was closed and opened again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-inbox-"));
  const file = join(folder, "store.sqlite");
  const open = async () => {
    const production = await openTrafficStore(file);
    const writing = recorder(production);
    const app = inbox({
      production,
      recorder: writing,
      gate: gate({ production, open: true, signing: randomBytes(32) }),
    });
    const ask = async <T>(path: string, body?: unknown): Promise<{ status: number; json: T }> => {
      const answer = await app.request(path, {
        headers: { host: "localhost", "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      });
      return { status: answer.status, json: JSON.parse(await answer.text()) };
    };
    const close = async () => {
      await writing.close();
      await production.close();
    };
    return { production, writing, ask, close };
  };
  const thumb = { kind: "reaction", response: "r1", reaction: "thumbs_up" };

  const before = await open();
  await before.writing.recordDurably(served({ id: "r1" }));
  await before.writing.recordDurably(served({ id: "r9", session: "gone", trajectory: "gone/0", user: "u9" }));
  const first = await before.ask<Acknowledged>("/v1/feedback", { ...thumb, key: "k1" });
  assert.equal(first.status, 201);
  // known from before, new, and twice within the list
  const list = [
    { ...thumb, key: "k1" },
    { kind: "comment", response: "r1", text: "good", key: "k2" },
    { kind: "comment", response: "r1", text: "good", key: "k2" },
  ];
  const { status, json } = await before.ask<AcknowledgedList>("/v1/feedback", list);
  assert.equal(status, 201);
  assert.deepEqual(
    json.signals.map((s) => s.duplicate),
    [true, false, true],
  );
  assert.equal(json.signals[0]?.id, first.json.id);
  assert.equal(json.signals[2]?.id, json.signals[1]?.id);
  await before.close();

  const after = await open();
  assert.equal((await after.ask("/v1/feedback", { ...thumb, key: "k1" })).status, 200);
  const session = await after.ask<SessionBody>("/v1/sessions/s1");
  assert.deepEqual(session.json.signals.map((s) => s.kind).sort(), ["critique", "reaction"]);
  await after.production.erase({ session: "gone" });
  const refused = await after.ask<ErrorBody>("/v1/feedback", [thumb, { ...thumb, response: "r9" }]);
  assert.deepEqual([refused.status, refused.json.error.code], [410, "erased"]);
  assert.equal((await after.ask<SessionBody>("/v1/sessions/s1")).json.signals.length, 2);
  await after.close();
  rmSync(folder, { recursive: true });
});

test("of a session that says much, as much is shown as an answer may hold, and that there is more", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-inbox-"));
  const production = await openTrafficStore(join(folder, "store.sqlite"));
  t.after(async () => {
    await production.close();
    rmSync(folder, { recursive: true });
  });
  const long = "x".repeat(1e6);
  const response = (i: number, session: string, trajectory: string, asked: string) =>
    served({
      id: `${session}-${i}`,
      session,
      trajectory,
      turn: i,
      at: i,
      prompt: [{ role: "user", content: asked }],
    });
  await production.write(
    Array.from({ length: 8 }, (_, i) => [
      // each a conversation of its own
      { kind: "response" as const, response: response(i, "wide", `wide/${i}`, `${i}${long}`) },
      // one conversation, said once
      { kind: "response" as const, response: response(i, "deep", "deep/0", long) },
    ]).flat(),
  );
  const door = gate({ production, open: true, signing: randomBytes(32) });
  const app = inbox({ production, recorder: recorder(production), gate: door });
  const shown = async (session: string) => {
    const answer = await app.request(`/v1/sessions/${session}`, { headers: { host: "localhost" } });
    const { trajectories, more }: SessionBody = JSON.parse(await answer.text());
    return { turns: trajectories.flatMap(({ turns }) => turns).length, more };
  };
  assert.deepEqual(await shown("wide"), { turns: 3, more: true });
  assert.deepEqual(await shown("deep"), { turns: 8, more: false });
});
