/** Why feedback was not accepted. */

export type FeedbackErrorKind =
  /** The server refused it; a retry would be refused again. */
  | "refused"
  /** It could not be delivered within `keepTrying`. */
  | "undelivered"
  /** The client's queue is full. */
  | "queue_full";

/** One field that the server refused. */
export interface WrongField {
  readonly path: string;
  readonly message: string;
}

export interface FeedbackErrorParts {
  readonly kind: FeedbackErrorKind;
  readonly message: string;
  /** HTTP status, if the server responded. */
  readonly status?: number;
  /** The server's code, e.g. `invalid_feedback`. */
  readonly code?: string;
  readonly fields?: readonly WrongField[];
  readonly cause?: unknown;
}

/** The error that every call of the client rejects with, except for the reason of an AbortSignal. */
export class FeedbackError extends Error {
  readonly kind: FeedbackErrorKind;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly fields: readonly WrongField[];
  constructor({ kind, message, status, code, fields = [], cause }: FeedbackErrorParts) {
    super(message, { cause });
    this.name = "FeedbackError";
    this.kind = kind;
    this.status = status;
    this.code = code;
    this.fields = fields;
  }
}
