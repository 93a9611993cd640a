/** A version that answers as another one does, once it was told what an artefact says. */
import { type Addition, type ApplyOptions, additionOf, systemText } from "../../core/applied.ts";
import type { Artefact } from "../../core/artefact.ts";
import { wireMessage } from "../../core/chatWire.ts";
import { type Json, listOf, objectOf, textOf } from "../../core/json.ts";
import { parsed } from "../../core/toolCalls.ts";
import type { Answerer, Call } from "./answerer.ts";
import { readAsked } from "./asked.ts";

type JsonObject = Readonly<Record<string, Json>>;

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
  async function chat(call: Call) {
    const body = parsed(typeof call.body === "string" ? call.body : Buffer.from(call.body).toString("utf8"));
    const asked = readAsked(body);
    if (!asked) return await over.chat(call);
    const now = await artefact();
    const hint =
      now.kind === "guide" && guide
        ? await hintOf(guide, asked.body, call.gone, hintTokens, hintSeconds)
        : undefined;
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

/** What a guide says of a conversation. It gets no key of the client's. */
async function hintOf(
  guide: Answerer,
  body: JsonObject,
  gone: AbortSignal,
  tokens: number,
  seconds: number,
): Promise<string> {
  const { messages, model } = body;
  const late = AbortSignal.any([gone, AbortSignal.timeout(seconds * 1000)]);
  const asked = { model: guide.model ?? model ?? "guide", messages: messages ?? [], max_tokens: tokens };
  try {
    const { status, body: bytes } = await guide.chat({
      body: JSON.stringify(asked),
      headers: {},
      gone: late,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    const answer = status < 400 ? objectOf(parsed(Buffer.concat(chunks).toString("utf8"))) : undefined;
    return textOf(objectOf(objectOf(listOf(answer?.choices)[0])?.message)?.content) ?? "";
  } catch (e) {
    if (gone.aborted) throw e;
    return "";
  }
}
