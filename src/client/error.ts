/** Why feedback was not taken. */

export type FeedbackErrorKind =
  /** The server said no, and will say no again. */
  | "refused"
  /** It could not be delivered for as long as the client is patient. */
  | "undelivered"
  /** More waits to be delivered than the client keeps. */
  | "queue_full";

/** One field that the server did not take. */
export interface WrongField {
  readonly path: string;
  readonly message: string;
}

export interface FeedbackErrorParts {
  readonly kind: FeedbackErrorKind;
  readonly message: string;
  /** HTTP status, where there was an answer. */
  readonly status?: number;
  /** The server's code, e.g. `invalid_feedback`. */
  readonly code?: string;
  readonly fields?: readonly WrongField[];
  readonly cause?: unknown;
}

/** What every call of the client rejects with, other than the reason of an AbortSignal. */
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
