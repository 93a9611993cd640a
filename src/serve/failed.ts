/** The response to a request that failed with an exception, and its log line. */

import type { Context } from "hono";
import { messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { storeRefusal } from "./inbox.ts";
import { type Refused, refusal } from "./refusal.ts";

/** Handles exceptions of routes. Every response of status 500 and above gets a log line and hides the cause from the client. */
export const failed =
  (log: Log) =>
  (e: unknown, c: Context): Response => {
    const refused = storeRefusal(e) ?? broken;
    // the path as it was sent: a decoded path could inject log lines
    if (refused.status >= 500) {
      const route = `${c.req.method} ${new URL(c.req.url).pathname.replaceAll(named, "/$1/…")}`;
      log(`${route}: ${messageOf(e)}`, { level: "error", route });
    }
    return refusal(refused);
  };

/** Names in paths may be those of people, and logs outlive what is erased. */
const named = /\/(sessions?|users?)\/[^/]+/gi;

const broken: Refused = {
  status: 500,
  code: "internal_error",
  message: "An unexpected error occurred; the server's log has the details.",
};
