/** An artefact's way through HTTP alone: sent, told to half of the sessions, and taken back; by a gateway as it is served. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { z } from "zod";
import { openVersion, versionOf } from "../../../src/serve/gateway/open.ts";
import { serveProduction } from "../../../src/serve/gateway/server.ts";
import { liveVersions } from "../../../src/serve/gateway/versions.ts";
import { openTrafficStore } from "../../../src/store/openTrafficStore.ts";
import { recorder } from "../../../src/store/recorder.ts";
import { scripted } from "./world.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-told-http-"));
const production = await openTrafficStore(join(folder, "store.sqlite"));
const behind = await scripted((body, response) => {
  const told = JSON.stringify(body.messages).includes("Ask for the date.");
  const message = { role: "assistant", content: told ? "On which day?" : "Done." };
  response.end(JSON.stringify({ id: "x", choices: [{ index: 0, message, finish_reason: "stop" }] }));
});
const base = versionOf({ kind: "upstream", url: behind.url, model: "base" }, 0);
await production.addVersion(base);
const versions = await liveVersions({
  production,
  open: (version, on) => openVersion(version, { environment: {}, artefact: production.artefacts.get }, on),
  main: base.id,
});
const writing = recorder(production);
const server = await serveProduction({
  production,
  recorder: writing,
  versions,
  signing: new Uint8Array(32),
});
after(async () => {
  await server.close();
  await versions.close();
  await writing.close();
  await production.close();
  await behind.close();
  rmSync(folder, { recursive: true, force: true });
});

async function post<T>(path: string, body: object, shape: z.ZodType<T>): Promise<T> {
  const answer = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return shape.parse(JSON.parse(text));
}
const versionShape = z.object({
  id: z.string(),
  backend: z.object({ kind: z.literal("artefact"), artefact: z.string(), over: z.string() }),
});
const replyShape = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]),
});
async function repliesIn(session: string): Promise<string> {
  const messages = [{ role: "user", content: "Two tickets" }];
  const path = `/session/${session}/v1/chat/completions`;
  return (await post(path, { model: "m", messages }, replyShape)).choices[0].message.content;
}
const split = async (shares: Readonly<Record<string, number>>, why: string): Promise<void> => {
  await post("/v1/splits", { shares, why }, z.object({ id: z.string() }));
  await versions.refresh();
};
const sessions = Array.from({ length: 24 }, (_, i) => `s${i}`);

test("an artefact is sent, split against what answers, judged by whom it answered, and rolled back", async () => {
  assert.equal(await repliesIn("before"), "Done.");
  const inline = { name: "dates", kind: "instructions", files: { "system.md": "Ask for the date.\n" } };
  const told = await post("/v1/versions", { artefact: inline, note: "asks first" }, versionShape);
  assert.equal(told.backend.over, base.id);
  const kept = await production.artefacts.get(told.backend.artefact);
  assert.deepEqual([kept?.name, kept?.why], ["dates", "sent over HTTP"]);
  // the same again, by its name, is the same version
  const again = await post("/v1/versions", { artefact: "dates", over: base.id }, versionShape);
  assert.equal(again.id, told.id);
  assert.equal(await repliesIn("not split yet"), "Done.");

  await split({ [base.id]: 0.5, [told.id]: 0.5 }, "halves");
  const half = await Promise.all(sessions.map(repliesIn));
  assert.deepEqual(new Set(half), new Set(["Done.", "On which day?"]));

  await split({ [base.id]: 1 }, "rolled back");
  assert.deepEqual(new Set(await Promise.all(sessions.map(repliesIn))), new Set(["Done."]));
  await writing.flush();
  const answered = new Map<string, string>();
  for await (const { session, version, choices } of production.responses()) {
    const content = choices[0]?.message.content ?? "";
    if (content === "On which day?") answered.set(session, version);
  }
  assert.deepEqual(new Set(answered.values()), new Set([told.id]));
});

test("a guide in front of a version, and an artefact over an artefact", async () => {
  const frame = "Hint: {hint}";
  const files = { "frame.md": frame, "guide.json": JSON.stringify({ policy: base.id }) };
  const hints = { artefact: { name: "hints", kind: "guide", files }, over: base.id, guide: base.id };
  const guided = await post("/v1/versions", hints, versionShape);
  const both = await post("/v1/versions", { artefact: "dates", over: guided.id }, versionShape);
  await split({ [both.id]: 1 }, "both");
  assert.equal(await repliesIn("both"), "On which day?");
  const last = JSON.stringify(behind.asked.at(-1)?.messages);
  assert.match(last, /Hint: On which day\?/);
  assert.match(last, /Ask for the date\./);
});
