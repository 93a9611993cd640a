/** A backend for chat completions: an upstream server, or a policy in this process. */
import type { TurnTokens } from "../../core/types.ts";
import type { LogprobMode } from "./assemble.ts";

/** One call, as it is passed to a backend. */
export interface Call {
  /** JSON text. */
  readonly body: string | Uint8Array;
  /** The client's non-secret headers, by lower-case name. Every backend may see them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The client's provider keys and account headers, by lower-case name. Only the provider that they are for may see them. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
}

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

/** A backend that answers chat completions. */
export interface Answerer {
  /** Model name that replaces the client's. */
  readonly model?: string;
  /** The backend returns token ids and log-probabilities of this kind when asked with vLLM's parameters. */
  readonly exact?: LogprobMode;
  /** @throws Error if the backend does not respond. */
  chat(call: Call): Promise<Answered>;
  /** Model names that a client may request. */
  models(call: Omit<Call, "body">): Promise<readonly string[]>;
  close(): Promise<void>;
}
