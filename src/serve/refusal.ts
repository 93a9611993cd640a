/** Refused requests: what was wrong, what was expected and how to fix it, in the format of OpenAI's errors. */

/** One invalid field. */
export interface WrongField {
  /** Its path in the body, e.g. `3.value`; empty for the body itself. */
  readonly path: string;
  readonly message: string;
}

export interface Refused {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 413 | 415 | 429 | 431 | 500 | 503 | 507;
  /** For programs: stable, lower case, e.g. `invalid_feedback`. */
  readonly code: string;
  readonly message: string;
  readonly fields?: readonly WrongField[];
  /** Seconds to wait before a retry. */
  readonly retryAfter?: number;
}

/** The body of a refused request. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
    readonly fields?: readonly WrongField[];
  };
}

const types: Readonly<Partial<Record<Refused["status"], string>>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
  500: "server_error",
  503: "server_error",
  507: "server_error",
};

export const isRefused = <T>(x: T): x is Extract<T, Pick<Refused, "status" | "code" | "message">> =>
  typeof x === "object" && x !== null && "status" in x && "code" in x && "message" in x;

export function errorBody({ status, code, message, fields }: Refused): ErrorBody {
  const type = types[status] ?? "invalid_request_error";
  return {
    error: { message, type, param: fields?.[0]?.path ?? null, code, ...(fields ? { fields } : {}) },
  };
}

/** OpenAI's clients retry after many statuses unless a header tells them not to. */
export function refusal(refused: Refused): Response {
  const { status, retryAfter } = refused;
  return Response.json(errorBody(refused), {
    status,
    headers: {
      "cache-control": "no-store",
      "x-should-retry": String(retryAfter !== undefined),
      ...(retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter)) }),
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    },
  });
}
