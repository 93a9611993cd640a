/** Errors of the client or of the server, in the format of the Tinker API. */
import { isWhetstoneError, messageOf } from "../../core/errors.ts";

/** The error of a failed future. A `user` fault is final; a `server` fault may be retried. */
export interface Fault {
  readonly error: string;
  readonly category: "user" | "server";
}

export const fault = (error: string, category: Fault["category"] = "user"): Fault => ({ error, category });

export const isFault = (x: unknown): x is Fault =>
  typeof x === "object" && x !== null && "error" in x && "category" in x;

/** Error codes that only a different request can fix. */
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
