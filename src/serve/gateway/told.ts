/** A version that answers as another one does, once it was told what an artefact says. */
import {
  type Addition,
  type ApplyOptions,
  additionOf,
  systemText,
} from "../../common/artefacts/applyArtefact.ts";
import { wireMessage } from "../../common/text/chatWire.ts";
import { parsed } from "../../common/text/toolCalls.ts";
import type { Artefact } from "../../core/artefact.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import type { Answerer, Call } from "./answerer.ts";
import { readAsked } from "./asked.ts";
import { hintsOf } from "./hints.ts";

/** Settings of {@link told}. */
export interface ToldOptions {
  /** Asked for at every call: parts may have been erased. */
  readonly artefact: () => Promise<Artefact>;
  /** Who answers. Closed by whoever opened it. */
  readonly over: Answerer;
  /** Writes the hints, where the artefact is a guide. Closed by whoever opened it. */
  readonly guide?: Answerer;
  /** How much is added. */
  readonly apply?: Omit<ApplyOptions, "hint">;
  /** Longest hint, in tokens. Default 64. */
  readonly hintTokens?: number;
  /** How long a hint is waited for. Default 10. */
  readonly hintSeconds?: number;
}

/** Name of the tag with the ids of the lessons, cases or examples that were shown, by commas. */
export const shownTag = "whetstone.shown";
/** Name of the tag with the hint that was given; "" where the guide did not answer. */
export const hintTag = "whetstone.hint";

/**
 * The request is passed on with the artefact in it, all else in it as the client wrote it; the record keeps what the client
 * asked, and which parts were shown. A guide that does not answer costs its hint, not the answer.
 */
export function told({
  artefact,
  over,
  guide,
  apply,
  hintTokens = 64,
  hintSeconds = 10,
}: ToldOptions): Answerer {
  const hintFor = guide && hintsOf(guide, { tokens: hintTokens, seconds: hintSeconds });
  async function chat(call: Call) {
    const body = parsed(typeof call.body === "string" ? call.body : Buffer.from(call.body).toString("utf8"));
    const asked = readAsked(body);
    if (!asked) return await over.chat(call);
    const now = await artefact();
    const hint = now.kind === "guide" && hintFor ? await hintFor(asked.body, call.gone) : undefined;
    const addition = additionOf(now, asked.prompt, { ...apply, ...(hint === undefined ? {} : { hint }) });
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
    models: over.models,
    close: async () => {},
  };
}

/** A request with what an artefact adds; messages of the client's stay as they are, images and all. */
export function withAdditionOnWire(body: JsonObject, addition: Addition): JsonObject {
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

/** Text, or parts of which one more is text. */
function joined(own: Json | undefined, added: string, instead: boolean): Json {
  if (typeof own === "string" || instead) return systemText(textOf(own) ?? "", added, instead);
  return [...listOf(own), { type: "text", text: added }];
}

function redescribed(tool: Json, tools: Addition["tools"]): Json {
  const declared = objectOf(tool);
  const named = objectOf(declared?.function);
  const name = textOf(named?.name);
  const description = name !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined;
  return description === undefined ? tool : { ...declared, function: { ...named, description } };
}
