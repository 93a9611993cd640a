import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointsOf } from "../../bench/fuzz/endpoints.ts";
import { fuzz } from "../../bench/fuzz/fuzz.ts";
import { malformed } from "../../bench/fuzz/requests.ts";
import { randomStream } from "../../src/core/random.ts";
import { alwaysHi, wholeServer } from "./wholeServer.ts";

const there = { version: "v", artefact: "a", response: "r", session: "s", key: "k", run: "r" };

test("equal seeds make equal requests", () => {
  const made = (seed: number) =>
    Array.from({ length: 50 }, (_, n) => malformed(there)(randomStream(seed), n)).map(({ pieces }) =>
      Buffer.concat(pieces).toString("base64"),
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
    const result = await fuzz({ port, requests: 2000, seed: 1, run: "run" });
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
