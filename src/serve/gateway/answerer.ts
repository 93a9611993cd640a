/** Whatever answers chat completions: a server upstream, or a policy of ours in this process. */
import type { TurnTokens } from "../../core/types.ts";
import type { LogprobMode } from "./assemble.ts";

/** One call, as it is passed on. */
export interface Call {
  /** JSON text. */
  readonly body: string | Uint8Array;
  /** The client's, by lower-case name, of those that anybody may see who answers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The client's own keys and accounts, by lower-case name of their header: for the server that they are meant for. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Aborted once nobody waits for the answer any more. */
  readonly gone: AbortSignal;
}

export interface Answered {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it comes. What breaks off throws. */
  readonly body: AsyncIterable<Uint8Array>;
  /** What was read and sampled, by reply, once the body has been read: of a policy of ours. */
  tokens?(): readonly TurnTokens[];
  /** What else is to be recorded of it. */
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Answerer {
  /** Sent as the model in place of the client's. */
  readonly model?: string;
  /** It gives token ids and log-probabilities, of this kind, to whoever asks as vLLM has it. */
  readonly exact?: LogprobMode;
  /** @throws Error where nothing answers. */
  chat(call: Call): Promise<Answered>;
  /** Names that a client may ask for. */
  models(call: Omit<Call, "body">): Promise<readonly string[]>;
  close(): Promise<void>;
}
