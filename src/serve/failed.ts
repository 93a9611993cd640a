/** The response to a request that failed with an exception, and its log line. */
import type { Context } from "hono";
import { messageOf } from "../core/errors.ts";
import { storeRefusal } from "./inbox.ts";
import { type Refused, refusal } from "./refusal.ts";

/** Handles exceptions of routes. Every response of status 500 and above gets a log line and hides the cause from the client. */
export const failed =
  (log: (line: string) => void) =>
  (e: unknown, c: Context): Response => {
    const refused = storeRefusal(e) ?? broken;
    // the path as it was sent: a decoded path could inject log lines
    if (refused.status >= 500) log(`${c.req.method} ${new URL(c.req.url).pathname}: ${messageOf(e)}`);
    return refusal(refused);
  };

const broken: Refused = {
  status: 500,
  code: "internal_error",
  message: "An unexpected error occurred; the server's log has the details.",
};
