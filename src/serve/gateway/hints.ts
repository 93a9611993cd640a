/** The hints that a guide writes: one for a conversation, from how it opens, as it was practised. */
import { createHash } from "node:crypto";
import { type Json, listOf, objectOf, textOf } from "../../core/json.ts";
import { parsed } from "../../core/toolCalls.ts";
import type { Answerer } from "./answerer.ts";

type JsonObject = Readonly<Record<string, Json>>;

/** Conversations whose hints are kept; those that were last heard of longest ago go first, and are asked for anew. */
const mostKept = 10_000;

/** @returns the hint for a request; "" where the guide gives none in time: then the next call asks again. */
export function hintsOf(
  guide: Answerer,
  limits: { readonly tokens: number; readonly seconds: number },
): (body: JsonObject, gone: AbortSignal) => Promise<string> {
  const kept = new Map<string, string>();
  return async ({ messages, model }, gone) => {
    const opening = openingOf(listOf(messages));
    const key = createHash("sha256").update(JSON.stringify(opening)).digest("base64");
    const known = kept.get(key);
    const hint =
      known ?? (await ask(guide, { model: guide.model ?? model ?? "guide", opening }, gone, limits));
    kept.delete(key);
    if (hint !== "") kept.set(key, hint);
    const [oldest] = kept.keys();
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
    return hint;
  };
}

/** All that was said before the model first spoke: the same at every call of a conversation. */
function openingOf(messages: readonly Json[]): readonly Json[] {
  const first = messages.findIndex((message) => objectOf(message)?.role === "assistant");
  return first < 0 ? messages : messages.slice(0, first);
}

/** It gets no key of the client's. */
async function ask(
  guide: Answerer,
  { model, opening }: { readonly model: Json; readonly opening: readonly Json[] },
  gone: AbortSignal,
  { tokens, seconds }: { readonly tokens: number; readonly seconds: number },
): Promise<string> {
  const late = AbortSignal.any([gone, AbortSignal.timeout(seconds * 1000)]);
  try {
    const { status, body } = await guide.chat({
      body: JSON.stringify({ model, messages: opening, max_tokens: tokens }),
      headers: {},
      gone: late,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const answer = status < 400 ? objectOf(parsed(Buffer.concat(chunks).toString("utf8"))) : undefined;
    return textOf(objectOf(objectOf(listOf(answer?.choices)[0])?.message)?.content) ?? "";
  } catch (e) {
    if (gone.aborted) throw e;
    return "";
  }
}
