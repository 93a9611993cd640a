/** Serves the script that adds thumbs buttons under replies in a web page. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Handler } from "hono";
import type { Gated } from "./auth.ts";

/** Answers `GET /v1/feedback.js` for every page, without a key: the script holds no secret. */
export function feedbackSnippet(): Handler<Gated> {
  const script = readFileSync(new URL("./feedback.browser.js", import.meta.url), "utf8");
  const etag = `"${createHash("sha256").update(script).digest("base64url").slice(0, 22)}"`;
  const headers = {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=3600",
    "cross-origin-resource-policy": "cross-origin",
    etag,
  };
  return (c) =>
    c.req.header("if-none-match") === etag ? c.body(null, 304, headers) : c.body(script, 200, headers);
}
