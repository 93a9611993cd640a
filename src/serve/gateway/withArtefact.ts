/** A backend that adds an artefact to each request and passes it to another backend. */
import {
  type ApplyOptions,
  type PromptAddition,
  promptAdditionOf,
  systemText,
} from "../../common/artefacts/applyArtefact.ts";
import { wireMessage } from "../../common/text/chatWire.ts";
import { parsed } from "../../common/text/toolCalls.ts";
import type { Artefact } from "../../core/artefact.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import type { Answerer, Call } from "./answerer.ts";
import { readAsked } from "./asked.ts";
import { hintsOf } from "./hints.ts";

/** Settings of {@link withArtefact}. */
export interface WithArtefactOptions {
  /** Read at every call, since parts may have been erased. */
  readonly artefact: () => Promise<Artefact>;
  /** The backend that answers. Its owner closes it. */
  readonly over: Answerer;
  /** The backend that writes the hints, if the artefact is a guide. Its owner closes it. */
  readonly guide?: Answerer;
  /** How much is added. */
  readonly apply?: Omit<ApplyOptions, "hint">;
  /** Longest hint, in tokens. Default 64. */
  readonly hintTokens?: number;
  /** Seconds to wait for a hint. Default 10. */
  readonly hintSeconds?: number;
}

/** Name of the tag with the comma-separated ids of the lessons, cases or examples that were shown. */
export const shownTag = "whetstone.shown";
/** Name of the tag with the hint; "" if the guide did not answer. */
export const hintTag = "whetstone.hint";

/**
 * Passes the request on with the artefact added and everything else unchanged. The record keeps the client's original request
 * and which parts were shown. If the guide does not answer, the call goes on without a hint.
 */
export function withArtefact({
  artefact,
  over,
  guide,
  apply,
  hintTokens = 64,
  hintSeconds = 10,
}: WithArtefactOptions): Answerer {
  const hintFor = guide && hintsOf(guide, { tokens: hintTokens, seconds: hintSeconds });
  const embed = over.others?.["/embeddings"];
  async function chat(call: Call) {
    const body = parsed(typeof call.body === "string" ? call.body : Buffer.from(call.body).toString("utf8"));
    const asked = readAsked(body);
    if (!asked) return await over.chat(call);
    const now = await artefact();
    const hint = now.kind === "guide" && hintFor ? await hintFor(asked.body, call.gone) : undefined;
    const addition = promptAdditionOf(now, asked.prompt, {
      ...apply,
      ...(hint === undefined ? {} : { hint }),
    });
    const answered = await over.chat({
      ...call,
      body: JSON.stringify(withAdditionOnWire(asked.body, addition)),
    });
    const { shown } = addition;
    const tags = {
      ...answered.tags,
      ...(shown.length > 0 ? { [shownTag]: [answered.tags?.[shownTag] ?? [], shown].flat().join(",") } : {}),
      ...(hint === undefined ? {} : { [hintTag]: hint }),
    };
    return { ...answered, tags };
  }
  return {
    ...(over.model === undefined ? {} : { model: over.model }),
    ...(over.exact === undefined ? {} : { exact: over.exact }),
    chat,
    // an artefact is added to chat completions alone: other conversations are refused, since they would go on without it
    ...(embed && { others: { "/embeddings": embed } }),
    models: over.models,
    close: async () => {},
  };
}

/** Adds an artefact's addition to a request; the client's messages stay unchanged, images included. */
export function withAdditionOnWire(body: JsonObject, addition: PromptAddition): JsonObject {
  const { system, instead, examples, tools } = addition;
  const messages = listOf(body.messages);
  const first = objectOf(messages[0]);
  const isSystem = first?.role === "system" || first?.role === "developer";
  const own = isSystem
    ? [system === "" ? first : { ...first, content: joined(first.content, system, instead) }]
    : [];
  const head = isSystem || system === "" ? own : [{ role: "system", content: system }];
  const rest = isSystem ? messages.slice(1) : messages;
  return {
    ...body,
    messages: [...head, ...examples.map(wireMessage), ...rest],
    ...(body.tools === undefined
      ? {}
      : { tools: listOf(body.tools).map((tool) => redescribed(tool, tools)) }),
  };
}

/** Adds text to message content, which is a text or a list of parts. */
function joined(own: Json | undefined, added: string, instead: boolean): Json {
  if (typeof own === "string" || instead) return systemText(textOf(own) ?? "", added, instead);
  return [...listOf(own), { type: "text", text: added }];
}

function redescribed(tool: Json, tools: PromptAddition["tools"]): Json {
  const declared = objectOf(tool);
  const named = objectOf(declared?.function);
  const name = textOf(named?.name);
  const description = name !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined;
  return description === undefined ? tool : { ...declared, function: { ...named, description } };
}
