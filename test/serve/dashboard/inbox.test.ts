import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { ReceivedSignal } from "../../../src/core/served.ts";
import { gate } from "../../../src/serve/auth.ts";
import { inboxRoutes } from "../../../src/serve/dashboard/inbox.ts";
import type { InboxPage } from "../../../src/serve/dashboard/types.ts";
import { memory, served } from "../memory.ts";
import { eventsOf } from "./world.ts";

function inbox() {
  const { production, kept } = memory([served({ id: "r1" })]);
  const door = gate({ production, open: true, signing: randomBytes(32) });
  const app = inboxRoutes(production, door);
  const ask = async (path: string): Promise<Response> =>
    app.request(`http://localhost${path}`, { headers: { host: "localhost" } });
  const say = (more: Partial<ReceivedSignal> & Pick<ReceivedSignal, "id" | "kind">): void =>
    void kept.push({
      channel: "c",
      about: [{ session: "s1", response: "r1" }],
      source: "user",
      at: Date.now(),
      received: Date.now(),
      tags: {},
      ...more,
    });
  const review = (of: string, text: string): void =>
    say({ id: `${of} ${text}`, kind: "reaction", channel: "review", text, tags: { signal: of } });
  const page = async (): Promise<InboxPage> => JSON.parse(await (await ask("/api/inbox")).text());
  return { ask, say, review, page };
}

test("what is said comes the latest first, with the reply it is about and what is learnt from it", async () => {
  const { say, page } = inbox();
  say({ id: "1", kind: "correction", text: "Hello." });
  say({ id: "2", kind: "demonstration", text: "Good day." });
  say({ id: "3", kind: "correction", text: "Hi!" });
  say({ id: "4", kind: "reaction", text: "thumbs_up", value: 1 });
  say({ id: "5", kind: "correction", text: "x", about: [{ response: "gone" }] });
  const { items, waiting } = await page();
  assert.deepEqual(
    items.map(({ signal, becomes }) => [signal.id, becomes]),
    [
      ["5", { nothing: "noReply" }],
      ["4", undefined],
      ["3", { nothing: "same" }],
      ["2", { shown: "Good day." }],
      ["1", { shown: "Hello.", chosen: "Hello.", rejected: "hi" }],
    ],
  );
  assert.deepEqual(items.at(-1)!.reply, {
    response: "r1",
    session: "s1",
    version: "v1",
    asked: "hello",
    said: "hi",
  });
  // all but the thumb up
  assert.equal(waiting, 4);
});

test("a review is no item; its last word counts, for what is learnt as well", async () => {
  const { say, review, page } = inbox();
  say({ id: "1", kind: "correction", text: "Hello." });
  review("1", "rejected");
  const rejected = await page();
  assert.deepEqual(
    rejected.items.map(({ reviewed, becomes }) => [reviewed?.verdict, becomes]),
    [["rejected", { nothing: "rejected" }]],
  );
  assert.equal(rejected.waiting, 0);
  review("1", "accepted");
  const [item] = (await page()).items;
  assert.deepEqual(
    [item!.reviewed?.verdict, item!.becomes],
    ["accepted", { shown: "Hello.", chosen: "Hello.", rejected: "hi" }],
  );
});

test("what arrives is told to who listens, and nothing is told twice", { timeout: 20_000 }, async () => {
  const { ask, say, review } = inbox();
  say({ id: "1", kind: "correction", text: "Hello." });
  const told: number[][] = [];
  for await (const { event, data } of eventsOf<InboxPage>(await ask("/api/inbox/live"))) {
    assert.equal(event, "inbox");
    told.push([data.items.length, data.waiting]);
    if (told.length === 1) say({ id: "2", kind: "critique", text: "bad" });
    if (told.length === 2) review("1", "rejected");
    if (told.length === 3) break;
  }
  assert.deepEqual(told, [
    [1, 1],
    [2, 2],
    [2, 1],
  ]);
});
