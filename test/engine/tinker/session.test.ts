/** What a session says when it begins, and what is left of it when it ends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { tinkerEngine } from "../../../src/engine/tinker/index.ts";
import { openSession } from "../../../src/engine/tinker/session.ts";
import { transport } from "../../../src/engine/tinker/transport.ts";
import { codec } from "../local/support.ts";

const answers: Readonly<Record<string, object>> = {
  create_session: { session_id: "s" },
  get_server_capabilities: { supported_models: [{ model_name: "tiny", max_context_length: 64 }] },
  create_model: { request_id: "never" },
};

test("a session is asked for with all that the API has no default for", async () => {
  let asked: unknown;
  const over = transport({
    url: "http://stub",
    fetch: async (url, init) => {
      const path = String(url).slice("http://stub/api/v1/".length);
      if (path === "create_session") asked = JSON.parse(String(init?.body));
      return Response.json(answers[path] ?? {});
    },
  });
  (await openSession(over, "tiny")).close();
  assert.deepEqual(asked, { tags: ["whetstone"], user_metadata: null, sdk_version: "0.38.0" });
});

test("what a server warns of as a session begins is passed on", async () => {
  const said: string[] = [];
  const over = transport({
    url: "http://stub",
    say: (line) => void said.push(line),
    fetch: async (url) =>
      String(url).endsWith("create_session")
        ? Response.json({ session_id: "s", warning_message: "closed on Sunday", info_message: "hello" })
        : Response.json({ supported_models: [] }),
  });
  await (await openSession(over, "tiny")).close();
  assert.deepEqual(said, ["closed on Sunday"]);
});

test("what is under way ends with the engine, and is not asked for until patience ends", async () => {
  let [questions, waits] = [0, 0];
  const engine = tinkerEngine({
    url: "http://stub",
    baseModel: "tiny",
    codec,
    probe: false,
    wait: async (ms) => {
      waits++;
      await pause(Math.min(ms, 1));
    },
    fetch: async (url) => {
      const path = String(url).slice("http://stub/api/v1/".length);
      if (path !== "retrieve_future") return Response.json(answers[path] ?? {});
      questions++;
      return Response.json({ detail: "still waiting" }, { status: 408 });
    },
  });
  const made = engine.create({ id: "policy", seed: 1, vocabulary: [], contextTokens: 64 });
  const ended = assert.rejects(made, /disposed of/);
  while (questions < 3) await pause(1);
  await engine.dispose();
  await ended;
  const before = [questions, waits];
  await pause(20);
  assert.deepEqual([questions, waits], before);
});
