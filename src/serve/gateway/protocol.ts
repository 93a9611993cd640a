/** The calls that the gateway speaks: how each is read for the record. What is passed on does not depend on it. */
import { type Json, objectOf, textOf } from "../../core/json.ts";
import { type Asked, readAsked } from "./asked.ts";
import type { Assembler } from "./assemble.ts";

/** Path of a call below the base URL. */
export type Route =
  | "/chat/completions"
  | "/completions"
  | "/responses"
  | "/messages"
  | "/messages/count_tokens"
  | "/embeddings";

/** Reads answers as the chat completions that they amount to. */
export interface AnswerReader {
  /** The chat completions, or chunks of one, that a body or an event amounts to. */
  read(body: Json): readonly Json[];
  /** Whether the last event of a stream was read. */
  isDone(): boolean;
}

/** What reading needs to know of earlier calls. */
export interface EarlierItems {
  /** An item of an earlier answer, which the request only names. */
  item(id: string): Json | undefined;
}

/** A kind of call that is recorded. */
export interface Protocol {
  readonly route: Route;
  /** Beginning of the ids that the gateway gives. */
  readonly prefix: string;
  /** The user that the body names for the provider. */
  userOf(body: Json | undefined): string | undefined;
  /** @returns nothing if the body is no such request. */
  read(body: Json | undefined, earlier: EarlierItems): Asked | undefined;
  /** What a body needs to have, for the refusal of one that {@link read} cannot read. */
  readonly expected: string;
  /** Absent: answers are chat completions. @param note keeps an item of the answer, which later requests may name. */
  reader?(note: (id: string, item: Json) => void): AnswerReader;
  /** Streams state their usage unasked. */
  readonly statesUsage?: true;
  /** The id of the earlier response that a request continues. */
  continues?(body: Json | undefined): string | undefined;
}

export const chatCompletions: Protocol = {
  route: "/chat/completions",
  prefix: "chatcmpl-",
  userOf: (body) => textOf(objectOf(body)?.user),
  read: readAsked,
  expected: "The body has no list of messages. Send a chat completion request as OpenAI documents it.",
};

/** Assembles what a reader reads. */
export function readBy(reader: AnswerReader, inner: Assembler): Assembler {
  return {
    ...inner,
    take(body) {
      for (const chunk of reader.read(body)) inner.take(chunk);
    },
    isDone: reader.isDone,
  };
}
