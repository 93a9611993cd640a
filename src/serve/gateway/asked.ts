/** Reads chat-completion requests for the record; leniently, since the upstream refuses invalid requests. */

import { chatMessage, toolOf } from "../../common/text/chatWire.ts";
import { withTools } from "../../common/text/systemMessage.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import type { Message } from "../../core/types.ts";

/** A parsed request. */
export interface Asked {
  readonly body: JsonObject;
  /** The client's model name; "" if the request has none. */
  readonly model: string;
  /** The whole conversation; the first message carries the offered tools, if any. */
  readonly prompt: readonly Message[];
  /** All other fields of the body, such as sampling parameters. */
  readonly settings: JsonObject;
  /** The body's own `user`. */
  readonly user?: string;
  /** The text values of the body's `metadata`. */
  readonly tags: Readonly<Record<string, string>>;
  readonly stream: boolean;
}

/** Fields of the body that the record stores separately. */
const apart: ReadonlySet<string> = new Set(["messages", "tools", "functions", "model", "user", "metadata"]);
/** Prefix of tags that the gateway sets. */
const ours = "whetstone.";

/** @returns nothing if the body is not a JSON object with a list of messages. */
export function readAsked(body: Json | undefined): Asked | undefined {
  const given = objectOf(body);
  if (!given || !Array.isArray(given.messages)) return undefined;
  const prompt = withTools(listOf(given.messages).map(chatMessage), listOf(given.tools).flatMap(toolOf));
  return askedBy(given, prompt, apart);
}

/**
 * A request with its conversation.
 * @param apart fields of the body that the record stores separately. @param own what the body says of itself beside them.
 */
export const askedBy = (
  body: JsonObject,
  prompt: readonly Message[],
  apart: ReadonlySet<string>,
  own: { readonly user: string | undefined; readonly tags: Asked["tags"] } = {
    user: textOf(body.user),
    tags: tagsOf(body.metadata),
  },
): Asked => ({
  body,
  model: textOf(body.model) ?? "",
  prompt,
  settings: Object.fromEntries(Object.entries(body).filter(([name]) => !apart.has(name))),
  ...(own.user ? { user: own.user } : {}),
  tags: own.tags,
  stream: body.stream === true,
});

/** The text values of a body's `metadata`, without the gateway's own names. */
function tagsOf(metadata: Json | undefined): Asked["tags"] {
  const tags = Object.entries(objectOf(metadata) ?? {}).filter(([name]) => !name.startsWith(ours));
  return Object.fromEntries(tags.flatMap(([k, v]) => (typeof v === "string" ? [[k, v]] : [])));
}
