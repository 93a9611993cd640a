/** A backend for chat completions: an upstream server, or a policy in this process. */
import type { TurnTokens } from "../../core/types.ts";
import type { LogprobMode } from "./assemble.ts";
import type { Route } from "./protocol.ts";

/** One call, as it is passed to a backend. */
export interface Call {
  /** JSON text. */
  readonly body: string | Uint8Array;
  /** The client's non-secret headers, by lower-case name. Every backend may see them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The client's provider keys and account headers, by lower-case name. Only the provider that they are for may see them. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The header in which the client sent its key, for a backend that sends its own in its place. Default `authorization`. */
  readonly keyHeader?: "authorization" | "x-api-key" | "api-key";
  /** The query of the client's URL, with its question mark. */
  readonly query?: string;
  /** Who asks, a user or a key, where a backend shares places among those who ask. It is sent nowhere. */
  readonly who?: string;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
}

/** Final statuses that come without a body. */
export const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** A backend's response to a {@link Call}. */
export interface Answered {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as a stream. Throws if it breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Prompt and sampled tokens of each reply, available once the body has been read. For policies in this process only. */
  tokens?(): readonly TurnTokens[];
  /** Further tags to record. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** A call of a path that the gateway does not know, with any method and body. */
export interface PassedCall extends Omit<Call, "body"> {
  readonly method: string;
  /** Below the upstream's base URL, with its slash. */
  readonly path: string;
  readonly body?: AsyncIterable<Uint8Array>;
}

/** Calls other than chat completions. */
export type Others = Readonly<
  Partial<Record<Exclude<Route, "/chat/completions">, (call: Call) => Promise<Answered>>>
>;

/** A backend that answers chat completions, and perhaps other calls. */
export interface Answerer {
  /** Model name that replaces the client's. */
  readonly model?: string;
  /** The backend returns token ids and log-probabilities of this kind when asked with vLLM's parameters. */
  readonly exact?: LogprobMode;
  /** @throws Error if the backend does not respond. */
  chat(call: Call): Promise<Answered>;
  /** The other calls that the backend answers or passes on, by path; each throws as `chat` does. Default none. */
  readonly others?: Others;
  /** Calls of any other path. Default none. */
  pass?(call: PassedCall): Promise<Answered>;
  /** Model names that a client may request. */
  models(call: Omit<Call, "body">): Promise<readonly string[]>;
  close(): Promise<void>;
}
