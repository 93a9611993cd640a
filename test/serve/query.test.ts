import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { run, world } from "./dashboard/world.ts";
import { listening } from "./listening.ts";

const error = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

test("what nobody knows of is no filter: it is refused by name, and so is one that comes twice", async () => {
  const inbox = await listening();
  try {
    const asked = async (path: string) => {
      const response = await fetch(`${inbox.url}${path}`);
      if (response.ok) return "taken";
      const { code, message } = error.parse(await response.json()).error;
      assert.deepEqual([response.status, code], [400, "invalid_query"], message);
      return message;
    };
    assert.equal(await asked("/v1/feedback?response=r1&limit=1&user=u&channel=c&from=1&until=2"), "taken");
    assert.match(await asked("/v1/feedback?sesion=s1"), /"sesion", expected response, session, user/);
    assert.match(await asked("/v1/feedback?response=r1&response=r2"), /response: got the parameter twice/);
    assert.match(await asked("/v1/feedback?response[]=r1"), /"response\[\]"/);
    assert.match(await asked("/v1/sessions?user=ann"), /"user", expected limit, offset/);
    assert.match(await asked("/v1/sessions/s1?limit=5"), /"limit", expected no parameters/);
    assert.match(await asked("/v1/responses/r1?x"), /expected no parameters/);
    assert.match(await asked("/v1/keys?id=k"), /expected no parameters/);
  } finally {
    await inbox.close();
  }
});

test("the same holds for what the dashboard's pages ask for", async (t) => {
  const { store, request } = await world(t);
  await store.startRun(run("a"));
  await store.startRun(run("b"));
  const status = async (path: string): Promise<number> => (await request(path)).status;
  assert.equal(await status("/api/compare?run=a&run=b"), 200);
  assert.equal(await status("/api/runs/a/episodes?limit=5"), 200);
  for (const path of [
    "/api/runs?tag=x",
    "/api/compare?run=a&runs=b",
    "/api/runs/a/episodes?outcomes=success",
    "/api/runs/a/episodes?limit=5&limit=6",
    "/api/runs/a/curves?name=success",
    "/api/runs/a/episode?id=e&phase=train&iteration=0&turn=1",
    "/api/methods?family=x",
    "/api/artefacts?name=x",
    "/api/inbox?limit=3",
  ]) {
    assert.equal(await status(path), 400, path);
  }
});
