/** Feedback as it is sent to `POST /v1/feedback`. The server's own schema is checked against these types by a test. */

/** What feedback is about: as narrow as its author can name it. */
export interface Target {
  /** The `id` of a chat completion. */
  readonly response?: string | undefined;
  /** Which of several replies. Default 0. */
  readonly choice?: number | undefined;
  readonly session?: string | undefined;
  readonly trajectory?: string | undefined;
  /** Index within the trajectory, from 0. */
  readonly turn?: number | undefined;
  /** Half-open range of characters (UTF-16 units, as JavaScript counts) of the reply's text. */
  readonly characters?: [from: number, until: number] | undefined;
}

/** Fields that every kind of feedback has. */
export interface Circumstances {
  /** Name of the feedback channel. Default: its kind. */
  readonly channel?: string | undefined;
  /** Who gave it, such as "reviewer:ann" or "judge:gpt". Default "user". */
  readonly source?: string | undefined;
  /** Pseudonym of its author. */
  readonly user?: string | undefined;
  /** When it was given: milliseconds since 1970, or ISO 8601. Default: now. */
  readonly at?: number | string | undefined;
  /** Two signals with one key are one signal. Default: a random one, made once per signal. */
  readonly key?: string | undefined;
  readonly tags?: Record<string, string> | undefined;
}

/** One piece of feedback as clients send it: a kind, its value or text, and its target. */
export type Feedback = Circumstances &
  (
    | (Target & { readonly kind: "reaction"; readonly reaction: string; readonly value?: number | undefined })
    | (Target & {
        readonly kind: "rating";
        readonly value: number;
        /** Lowest and highest. Default 1 to 5. */
        readonly scale?: [low: number, high: number] | undefined;
        readonly text?: string | undefined;
      })
    | (Target & {
        readonly kind: "comment" | "critique";
        readonly text: string;
        readonly value?: number | undefined;
      })
    | (Target & { readonly kind: "correction" | "demonstration"; readonly text: string })
    | (Target & { readonly kind: "score"; readonly value: number; readonly text?: string | undefined })
    | (Target & { readonly kind: "outcome"; readonly value: number | boolean })
    | {
        readonly kind: "preference";
        /** The compared targets, in the order shown. */
        readonly among: Target[];
        /** Index in `among`. */
        readonly best: number;
        readonly value?: number | undefined;
      }
  );

/** Acknowledgement: the feedback is on the server's disk. */
export interface Acknowledged {
  readonly id: string;
  /** Whether the server had received it before. */
  readonly duplicate: boolean;
}
