/** What was served to people outside, and what they said of it: the words of the production loop. */
import type { Json } from "./json.ts";
import type { Exposure, Signal, SignalKind } from "./signal.ts";
import type { Id, Message, StopReason, Trajectory, TurnTokens } from "./types.ts";

/** One of the replies to one request. */
export interface ServedChoice {
  readonly message: Message;
  readonly stop: StopReason;
  /** Where whoever answered gave them: exactly what was read and sampled, never re-made from text. */
  readonly tokens?: TurnTokens;
}

/** One model call, as it was asked and answered. */
export interface ServedResponse {
  /** What the client got as the `id` of its answer. */
  readonly id: Id;
  readonly session: Id;
  /** A pseudonym: what retention and deletion go by. */
  readonly user?: Id;
  /** Calls whose prompts go on from one another share it: `<session>/<n>`, n rising with every cut. */
  readonly trajectory: Id;
  /** Place within the trajectory, from 0. */
  readonly turn: number;
  /** How it came to be known. */
  readonly origin: "gateway" | "otlp" | "import";
  /** Milliseconds since 1970 at which it was asked. */
  readonly at: number;
  /** Milliseconds until the last byte of the answer. */
  readonly ms: number;
  /** The version that answered, and the probability with which it was chosen to. */
  readonly version: Id;
  readonly propensity: number;
  /** The split that chose it. Absent: there was only one version. */
  readonly split?: Id;
  /** As the client named it. */
  readonly model: string;
  /** What was asked for beside words: temperature, limits, format… */
  readonly settings: Readonly<Record<string, Json>>;
  /** The whole conversation that was sent. */
  readonly prompt: readonly Message[];
  readonly choices: readonly ServedChoice[];
  /** Cut: the client went away, or the answer broke off. Failed: there is no answer. */
  readonly status: "complete" | "cut" | "failed";
  readonly error?: string;
  readonly usage?: { readonly input: number; readonly output: number };
  /** Feedback could have come on these channels: silence on them is data. */
  readonly channels: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/** What feedback is about: the narrowest thing that its giver can name. */
export interface Target {
  readonly response?: Id;
  /** Which of several replies. Default 0. */
  readonly choice?: number;
  readonly session?: Id;
  readonly trajectory?: Id;
  readonly turn?: number;
  /** Half-open range of characters (UTF-16 units) of the reply's content. */
  readonly characters?: readonly [from: number, to: number];
}

/** Feedback as it was received. It may come before what it is about is known, or weeks after. */
export interface ReceivedSignal {
  readonly id: Id;
  /** Two signals with one key are one signal. Unique within a store. */
  readonly key?: string;
  readonly kind: SignalKind;
  readonly channel: string;
  /** At least one; of a preference, all that were compared. */
  readonly about: readonly Target[];
  readonly value?: number;
  /** Of a preference: index in `about`. */
  readonly best?: number;
  /** Of a comment or critique, a correction (the right reply), a reaction (its name, such as "thumbs_up"). */
  readonly text?: string;
  /** Who or what gave it: "user", "reviewer:ann", "judge:gpt", "langfuse"… */
  readonly source: string;
  readonly user?: Id;
  /** Milliseconds since 1970 at which it was given, and at which it arrived. */
  readonly at: number;
  readonly received: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** A served trajectory in the words that learning uses, with all that was said of it. */
export interface Logged {
  /** Origin "logged"; the action of each turn is the reply that the next prompt goes on from, else the first. */
  readonly trajectory: Trajectory;
  readonly session: Id;
  readonly user?: Id;
  /** By turn. */
  readonly responses: readonly Id[];
  /** By turn: probability with which its version was chosen to answer. */
  readonly propensities: readonly number[];
  readonly signals: readonly Signal[];
  /** One for every turn and channel, answered or not. */
  readonly exposures: readonly Exposure[];
}

/** Something that can answer: a model upstream, a run's weights, or another version with an artefact applied. Never changed once served. */
export interface Version {
  readonly id: Id;
  readonly name: string;
  readonly backend:
    | {
        readonly kind: "upstream";
        /** Base URL with `/v1`. */
        readonly url: string;
        /** Sent in place of the client's. Default: the client's own. */
        readonly model?: string;
        /** Environment variable that holds the key; the key itself is stored nowhere. */
        readonly keyEnv?: string;
        /**
         * It gives token ids and log-probabilities to whoever asks as vLLM has it. Raw: of the model's own distribution; processed:
         * of the one drawn from, temperature and all. Default: it is not asked.
         */
        readonly exact?: "raw" | "processed";
      }
    | { readonly kind: "run"; readonly folder: string }
    /** Held by this process alone, by its name. */
    | { readonly kind: "local"; readonly name: string }
    /** What an artefact of the store says, told to another version, which answers. */
    | {
        readonly kind: "artefact";
        readonly artefact: Id;
        readonly over: Id;
        /** The version that writes the hints, where the artefact is a guide. */
        readonly guide?: Id;
      };
  readonly parent?: Id;
  readonly note?: string;
  readonly created: number;
}

/** Which versions answer, and how often. The last one made counts. */
export interface Split {
  readonly id: Id;
  /** Probabilities by version, all above 0, that add up to 1. */
  readonly shares: Readonly<Record<Id, number>>;
  /** What is drawn for: all calls of one session or one user go to one version. */
  readonly unit: "session" | "user" | "response";
  readonly since: number;
  /** Why: "candidate begins at 5 %", "guardrail length broken: rolled back"… */
  readonly why: string;
}

/** Who may do what. The key itself is never kept: only its SHA-256. */
export interface AccessKey {
  readonly id: Id;
  readonly label: string;
  /** Lower-case hexadecimal SHA-256 of the key. */
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** Narrower still, for keys handed to browsers: only this session's or response's feedback. */
  readonly only?: { readonly session?: Id; readonly response?: Id; readonly user?: Id };
  readonly created: number;
  readonly expires?: number;
  readonly revoked?: number;
}
/** `chat`: ask for answers. `feedback`: give signals. `traces`: send spans. `read`: see. `admin`: change versions, keys, erase. */
export type Scope = "chat" | "feedback" | "traces" | "read" | "admin";
