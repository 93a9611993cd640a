/** What the client did wrong, or what failed here, in the words of the Tinker API. */
import { isWhetstoneError, messageOf } from "../../core/errors.ts";

/** The answer of a future that failed. A user's fault is final; a server's may be tried again. */
export interface Fault {
  readonly error: string;
  readonly category: "user" | "server";
}

export const fault = (error: string, category: Fault["category"] = "user"): Fault => ({ error, category });

export const isFault = (x: unknown): x is Fault =>
  typeof x === "object" && x !== null && "error" in x && "category" in x;

/** What only another request can mend. */
const usersCodes: ReadonlySet<string> = new Set([
  "context.tooLong",
  "tokenizer.unknownToken",
  "option.range",
  "shape.mismatch",
  "checkpoint.missing",
  "checkpoint.damaged",
  "capability.missing",
]);

export function faultOf(e: unknown): Fault {
  return fault(messageOf(e), isWhetstoneError(e) && usersCodes.has(e.code) ? "user" : "server");
}
