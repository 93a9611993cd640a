/** Chat-completion requests as the gateway records them: read leniently, since what is odd is for the upstream to refuse. */

import { chatMessage, toolOf, withTools } from "../../common/text/chatWire.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import type { Message } from "../../core/types.ts";

/** A request, read. */
export interface Asked {
  readonly body: JsonObject;
  /** As the client named it; "" where it named none. */
  readonly model: string;
  /** The whole conversation; the first message carries the tools, where any are offered. */
  readonly prompt: readonly Message[];
  /** Everything that is asked for beside words. */
  readonly settings: JsonObject;
  /** The body's own `user`. */
  readonly user?: string;
  /** The body's own `metadata`, as far as it is text. */
  readonly tags: Readonly<Record<string, string>>;
  readonly stream: boolean;
}

/** What has a place of its own in the record. */
const apart: ReadonlySet<string> = new Set(["messages", "tools", "functions", "model", "user", "metadata"]);
/** Names of tags that the gateway gives. */
const ours = "whetstone.";

/** @returns nothing where the body is no JSON object with a list of messages. */
export function readAsked(body: Json | undefined): Asked | undefined {
  const given = objectOf(body);
  if (!given || !Array.isArray(given.messages)) return undefined;
  const user = textOf(given.user);
  const tags = Object.entries(objectOf(given.metadata) ?? {}).filter(([name]) => !name.startsWith(ours));
  return {
    body: given,
    model: textOf(given.model) ?? "",
    prompt: withTools(listOf(given.messages).map(chatMessage), listOf(given.tools).flatMap(toolOf)),
    settings: Object.fromEntries(Object.entries(given).filter(([name]) => !apart.has(name))),
    ...(user ? { user } : {}),
    tags: Object.fromEntries(tags.flatMap(([k, v]) => (typeof v === "string" ? [[k, v]] : []))),
    stream: given.stream === true,
  };
}
