import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointsOf } from "../../bench/fuzz/endpoints.ts";
import { fuzz } from "../../bench/fuzz/fuzz.ts";
import { malformed } from "../../bench/fuzz/requests.ts";
import { gatewayThere } from "../../bench/fuzz/servers.ts";
import { randomStream } from "../../src/core/random.ts";
import { alwaysHi, wholeServer } from "./wholeServer.ts";

const there = { version: "v", artefact: "a", response: "r", session: "s", key: "k", run: "r" };
const good = [
  {
    path: "/v1/chat/completions",
    body: { model: "m", messages: [{ role: "user", content: "hello" }] },
    status: 200,
  },
  { path: "/v1/feedback", body: { kind: "reaction", response: "r1", reaction: "thumbs_up" }, status: 201 },
  { path: "/v1/feedback?response=r1&limit=1", status: 200 },
];

test("equal seeds make equal requests", () => {
  const made = (seed: number) =>
    Array.from({ length: 50 }, (_, n) => malformed(endpointsOf(there), "v")(randomStream(seed), n)).map(
      ({ pieces }) => Buffer.concat(pieces).toString("base64"),
    );
  assert.deepEqual(made(1), made(1));
  assert.notDeepEqual(made(1), made(2));
});

test("every route, two thousand malformed requests: no crash, no hang, no 500, and good ones are answered in between", async () => {
  const log: string[] = [];
  // what is about a request, not a session
  const { server, close } = await wholeServer(alwaysHi(), {
    log: (line) => {
      if (/^[A-Z]+ \//.test(line)) log.push(line);
    },
  });
  try {
    // a route that is new is one more to be sent malformed requests
    const known = new Set(endpointsOf(there).map(({ route }) => route));
    assert.deepEqual([...known].sort(), [...server.routes].sort());
    const port = Number(new URL(server.url).port);
    const made = await gatewayThere(port, "run");
    const asked = { port, endpoints: endpointsOf(made), version: made.version, good };
    const result = await fuzz({ ...asked, requests: 2000, seed: 1 });
    assert.deepEqual([result.hangs, result.failures, result.wronged], [[], [], []], log.slice(-5).join("\n"));
    assert.equal(result.good, 120);
    assert.equal(
      [...result.answers.values()].flatMap((m) => [...m.values()]).reduce((a, b) => a + b),
      2000,
    );
  } finally {
    await close();
  }
});
