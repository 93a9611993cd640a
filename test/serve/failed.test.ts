import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { failed } from "../../src/serve/failed.ts";

test("the log of a failure names the route, and no session or user: it outlives what is erased", async () => {
  const lines: string[] = [];
  const app = new Hono()
    .all("*", () => {
      throw new Error("the disk broke");
    })
    .onError(failed((line, { route } = {}) => lines.push(line, route ?? "")));
  for (const path of [
    "/v1/sessions/ann%40example.com",
    "/user/ann/session/chat-ann/v1/chat/completions",
    "/v1/runs/a",
  ])
    assert.equal((await app.request(path)).status, 500);
  const routes = ["GET /v1/sessions/…", "GET /user/…/session/…/v1/chat/completions", "GET /v1/runs/a"];
  assert.deepEqual(
    lines,
    routes.flatMap((route) => [`${route}: the disk broke`, route]),
  );
});
