/** What may come in place of a reply. */
import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  NoContentGeneratedError,
  TypeValidationError,
} from "@ai-sdk/provider";
import { messageOf } from "../../core/errors.ts";

export interface Failure {
  /**
   * refused: the key, or the address. request: what was asked for, or an answer that cannot be read. unreached: nobody was
   * connected to. lost: a connection that broke. late: no answer in time. busy: the provider asks to come again.
   */
  readonly kind: "refused" | "request" | "unreached" | "lost" | "late" | "busy";
  /** Whether the provider began to answer: then the call may have been paid. */
  readonly answered: boolean;
  readonly status?: number;
  /** What came, in a line. */
  readonly got: string;
  /** The same as a sentence without a subject, where nobody was there. */
  readonly unconnected?: string;
  /** Where it came from, where that is known. */
  readonly url?: string;
}

export class LateError extends Error {
  constructor(seconds: number) {
    super(`no reply within ${seconds} s`);
  }
}

/** What is said of an answer that cannot be used; anything else that is no answer of the API was never sent. */
const unusable = [
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
];

/** Statuses that say nothing of the request: no other one will do better. */
const refusing: readonly number[] = [401, 402, 403, 404, 405];

/** Of connections that may do better next time; all others were never there, such as one that is refused, or to a name that is none. */
const passing = /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EAI_AGAIN|UND_ERR_)/;

export function failureOf(error: unknown): Failure {
  if (error instanceof LateError) return { kind: "late", answered: false, got: error.message };
  const got = messageOf(error).split("\n")[0]!.trim();
  if (LoadAPIKeyError.isInstance(error)) return { kind: "refused", answered: false, got };
  if (!APICallError.isInstance(error))
    return { kind: "request", answered: unusable.some((known) => known.isInstance(error)), got };
  const { statusCode: status, url } = error;
  if (status === undefined) {
    const kind = passing.test(codeOf(error)) ? "lost" : "unreached";
    const why = got.replace(/^Cannot connect to API: /, "");
    // fetch knows ports that it does not even try, and says no more than that
    const known = why === "bad port" || why === "fetch failed" ? "" : ` (${why})`;
    return {
      kind,
      answered: false,
      got: `no connection${known}`,
      unconnected: `could not connect${known}`,
      url,
    };
  }
  if (status < 400) return { kind: error.isRetryable ? "lost" : "request", answered: true, got, url };
  const kind = error.isRetryable ? "busy" : refusing.includes(status) ? "refused" : "request";
  return { kind, answered: false, status, got: `${status}, "${got}"`, url };
}

/** Of what lies at the bottom. */
function codeOf(error: Error): string {
  const { cause } = error;
  if (cause instanceof Error && codeOf(cause) !== "") return codeOf(cause);
  return "code" in error ? String(error.code) : "";
}
