/** What a server says while it runs. */

/** For programs that read the log. */
export interface LogFields {
  /** Default "info". "warning": something is lost or cut, and the server goes on; "error": something failed that should not. */
  readonly level?: "info" | "warning" | "error";
  readonly response?: string;
  readonly version?: string;
  readonly split?: string;
  readonly route?: string;
}

/** Takes a line for people, which stands alone, and its fields. Neither has contents of messages, nor names of sessions and users: logs outlive what is erased. */
export type Log = (line: string, fields?: LogFields) => void;
