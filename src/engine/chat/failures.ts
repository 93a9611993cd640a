/** Classifies the failures of a provider's API. */
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
import { TooLargeError } from "./boundedFetch.ts";

export interface Failure {
  /**
   * refused: the key or the address was rejected. request: a bad request, or an unreadable answer. unreached: no connection
   * was made. lost: a connection broke. late: a timeout. busy: the provider asks to retry later.
   */
  readonly kind: "refused" | "request" | "unreached" | "lost" | "late" | "busy";
  /** Whether the provider began to answer. If so, the call may have been charged. */
  readonly answered: boolean;
  readonly status?: number;
  /** The failure in one line. */
  readonly got: string;
  /** The failure as a sentence without a subject, if no connection was made. */
  readonly unconnected?: string;
  /** The URL, if known. */
  readonly url?: string;
}

export class LateError extends Error {
  override readonly name = "TimeoutError";
  constructor(seconds: number) {
    super(`no reply within ${Number(seconds.toPrecision(3))} s`);
  }
}

/** Errors of an unusable answer; any other error that is not an API answer means that nothing was sent. */
const unusable = [
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
];

/** Statuses that do not depend on the request: no other request will succeed. */
const refusing: readonly number[] = [401, 402, 403, 404, 405];

/** Codes of transient connection errors. All others, such as a refused connection or an unknown host, are permanent. */
const passing = /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EAI_AGAIN|UND_ERR_)/;

/** The error, or what caused it, if it is of a body that is too large. */
export function tooLarge(error: unknown): TooLargeError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof TooLargeError) return at;
  return undefined;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof TooLargeError) return { kind: "request", answered: true, got: error.message };
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

/** The code of the innermost cause. */
function codeOf(error: Error): string {
  const { cause } = error;
  if (cause instanceof Error && codeOf(cause) !== "") return codeOf(cause);
  return "code" in error ? String(error.code) : "";
}
