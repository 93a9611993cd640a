/** A request that is not answered: what was wrong, what was expected, how to mend it, in the shape of OpenAI's errors. */

/** One field that is not as it has to be. */
export interface WrongField {
  /** Where it stands in the body, e.g. `3.value`; empty for the body itself. */
  readonly path: string;
  readonly message: string;
}

export interface Refused {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 413 | 415 | 429 | 431 | 500 | 503 | 507;
  /** For programs: stable, lower case, e.g. `invalid_feedback`. */
  readonly code: string;
  readonly message: string;
  readonly fields?: readonly WrongField[];
  /** Seconds after which it is worth trying again. */
  readonly retryAfter?: number;
}

/** What clients get to see of a refusal. */
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

/** OpenAI's clients ask again after many a status unless they are told not to. */
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
