/** What a request that could not be answered is answered with, and what the log says of it. */
import type { Context } from "hono";
import { messageOf } from "../core/errors.ts";
import { storeRefusal } from "./inbox.ts";
import { type Refused, refusal } from "./refusal.ts";

/** Handles what routes throw. Every answer of 500 and above has a line in the log, and tells the client nothing of why. */
export const failed =
  (log: (line: string) => void) =>
  (e: unknown, c: Context): Response => {
    const refused = storeRefusal(e) ?? broken;
    // the path as it was sent: decoded, it could write lines of its own
    if (refused.status >= 500) log(`${c.req.method} ${new URL(c.req.url).pathname}: ${messageOf(e)}`);
    return refusal(refused);
  };

const broken: Refused = {
  status: 500,
  code: "internal_error",
  message: "Something went wrong that we did not foresee; the server's log has it.",
};
