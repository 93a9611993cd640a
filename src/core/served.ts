/** Types of the production loop: served responses and the feedback on them. */
import type { Budget } from "./budget.ts";
import type { Json } from "./json.ts";
import type { Exposure, Signal, SignalKind } from "./signal.ts";
import type { Id, Message, StopReason, Trajectory, TurnTokens } from "./types.ts";

/** One of the replies to one request. */
export interface ServedChoice {
  readonly message: Message;
  readonly stop: StopReason;
  /** Exact token ids, where the backend returned them; never recomputed from text. */
  readonly tokens?: TurnTokens;
}

/** One model call: the request and its answer. */
export interface ServedResponse {
  /** The `id` that the client received with the answer. */
  readonly id: Id;
  readonly session: Id;
  /** Pseudonym of the user. Retention and deletion use it. */
  readonly user?: Id;
  /** Calls whose prompts continue one another share it: `<session>/<n>`, where n rises with every cut. */
  readonly trajectory: Id;
  /** Turn within the trajectory, from 0. */
  readonly turn: number;
  /** How the call was recorded. */
  readonly origin: "gateway" | "otlp" | "import";
  /** Time of the request, in milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds until the last byte of the answer. */
  readonly ms: number;
  /** The version that answered, and the probability with which the split chose it. */
  readonly version: Id;
  readonly propensity: number;
  /** The split that chose the version. Absent where there was only one version. */
  readonly split?: Id;
  /** Model name that the client sent. */
  readonly model: string;
  /** Request settings: temperature, limits, format… */
  readonly settings: Readonly<Record<string, Json>>;
  /** The whole conversation that was sent. */
  readonly prompt: readonly Message[];
  readonly choices: readonly ServedChoice[];
  /** "cut": the client disconnected, or the answer broke off. "failed": there is no answer. */
  readonly status: "complete" | "cut" | "failed";
  readonly error?: string;
  readonly usage?: { readonly input: number; readonly output: number };
  /** Channels on which feedback was possible. A missing signal on them is data too. */
  readonly channels: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/** What lists and sums say of a response: none of its texts but a beginning. */
export interface ResponseHead
  extends Pick<ServedResponse, "version" | "model" | "status" | "usage" | "tags"> {
  /** The beginning of the first message of a user, at most 200 characters. */
  readonly opening?: string;
  /** Characters of what was sent and of the answers, where tokens are estimated: nobody counted them, or the answer was cut off. */
  readonly characters?: { readonly prompt: number; readonly replies: number };
}

/** A call of a tool, or a retrieval, as a tracer saw it between calls of a model; or a call of another path that the gateway passed on. */
export interface TracedCall {
  readonly id: Id;
  readonly session: Id;
  readonly user?: Id;
  readonly kind: "tool" | "retrieval" | "passed";
  /** Of the tool or the retriever; method and path of a call that was passed on. */
  readonly name: string;
  /** Time of its beginning, in milliseconds since 1970, and how long it took. */
  readonly at: number;
  readonly ms: number;
  /** Arguments or query, and result or documents, as text or JSON. Absent where the tracer records no contents, and for a call that was passed on. */
  readonly input?: string;
  readonly output?: string;
  readonly error?: string;
  /** What the tracer calls it: `otlp.span`, and the id of the model's call where it is known. */
  readonly tags: Readonly<Record<string, string>>;
}

/** The target of feedback, as narrow as its giver can name it. */
export interface Target {
  readonly response?: Id;
  /** Index of the reply among several. Default 0. */
  readonly choice?: number;
  readonly session?: Id;
  readonly trajectory?: Id;
  readonly turn?: number;
  /** Half-open range of characters (UTF-16 units) of the reply's content. */
  readonly characters?: readonly [from: number, to: number];
}

/** Feedback as it was received. It may arrive before its target is recorded, or weeks later. */
export interface ReceivedSignal {
  readonly id: Id;
  /** Two signals with one key are one signal. Unique within a store. */
  readonly key?: string;
  readonly kind: SignalKind;
  readonly channel: string;
  /** At least one target; for a preference, every compared one. */
  readonly about: readonly Target[];
  readonly value?: number;
  /** For a preference: index in `about` of the preferred target. */
  readonly best?: number;
  /** Text of a comment, critique or correction (the right reply), or the name of a reaction, such as "thumbs_up". */
  readonly text?: string;
  /** Who or what gave it: "user", "reviewer:ann", "judge:gpt", "langfuse"… */
  readonly source: string;
  readonly user?: Id;
  /** Times at which it was given and at which it arrived, in milliseconds since 1970. */
  readonly at: number;
  readonly received: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** A served trajectory as learners use it, with all its feedback. */
export interface Logged {
  /** Origin "logged". The action of each turn is the reply that the next prompt continues, else the first reply. */
  readonly trajectory: Trajectory;
  readonly session: Id;
  readonly user?: Id;
  /** Response id of each turn. */
  readonly responses: readonly Id[];
  /** For each turn, the probability with which its version was chosen. */
  readonly propensities: readonly number[];
  readonly signals: readonly Signal[];
  /** One for every turn and channel, answered or not. */
  readonly exposures: readonly Exposure[];
}

/** A servable backend: an upstream model, a run's weights, or another version with an artefact applied. Immutable once served. */
export interface Version {
  readonly id: Id;
  readonly name: string;
  readonly backend:
    | {
        readonly kind: "upstream";
        /** Base URL with `/v1`. */
        readonly url: string;
        /** Model name sent upstream. Default: the client's. */
        readonly model?: string;
        /** Environment variable that holds the key; the key itself is stored nowhere. */
        readonly keyEnv?: string;
        /**
         * The server returns token ids and log-probabilities on request, as vLLM does. "raw": of the model's own distribution;
         * "processed": of the sampling distribution, after temperature and filters. Default: they are not requested.
         */
        readonly exact?: "raw" | "processed";
        /** Milliseconds until an answer begins, and between its parts. Default: ten minutes. */
        readonly timeout?: number;
        /** Further tries of a call that was not taken: no connection, 429, 503. Default: 0. */
        readonly retries?: number;
      }
    | { readonly kind: "run"; readonly folder: string }
    /** A model in this process, by name. */
    | { readonly kind: "local"; readonly name: string }
    /** Another version, which answers with an artefact of the store applied. */
    | {
        readonly kind: "artefact";
        readonly artefact: Id;
        readonly over: Id;
        /** The version that writes the hints, where the artefact is a guide. */
        readonly guide?: Id;
      }
    /** The first of these versions that can be reached and does not refuse. */
    | { readonly kind: "firstOf"; readonly versions: readonly Id[] };
  readonly parent?: Id;
  readonly note?: string;
  readonly created: number;
}

/** Traffic split: the versions that answer and their shares. The most recent split applies. */
export interface TrafficSplit {
  readonly id: Id;
  /** Probability of each version: all > 0, with sum 1. */
  readonly shares: Readonly<Record<Id, number>>;
  /** Unit of assignment: all calls of one session or one user go to the same version. */
  readonly unit: "session" | "user" | "response";
  readonly since: number;
  /** Reason for the split: "candidate begins at 5 %", "guardrail length broken: rolled back"… */
  readonly why: string;
}

/** An API key and its scopes. The key itself is never stored, only its SHA-256. */
export interface AccessKey {
  readonly id: Id;
  readonly label: string;
  /** Lower-case hexadecimal SHA-256 of the key. */
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** Restricts a key for browsers to feedback on this session, response or user. */
  readonly only?: { readonly session?: Id; readonly response?: Id; readonly user?: Id };
  /** What calls with it may cost. Default: any amount. */
  readonly budget?: Budget;
  readonly created: number;
  readonly expires?: number;
  readonly revoked?: number;
}

/** What a model costs, in dollars per million tokens. */
export interface ModelPrice {
  /** The model's name; with `*` at the end, every name that begins so. */
  readonly id: string;
  readonly input: number;
  readonly output: number;
  /** The price holds no more. */
  readonly removed?: true;
}
/** `chat`: request answers. `feedback`: send signals. `traces`: send spans. `read`: read records. `admin`: change versions and keys, erase data. */
export type Scope = "chat" | "feedback" | "traces" | "read" | "admin";
