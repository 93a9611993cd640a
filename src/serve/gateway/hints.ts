/** The hints that a guide writes: one for a conversation, from how it opens, as it was practised. */
import { createHash } from "node:crypto";
import { parsed } from "../../common/text/toolCalls.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import { textOf as textIn } from "./answerBody.ts";
import type { Answerer } from "./answerer.ts";

/** Conversations whose hints are kept, and for how long after they were last heard of: whoever is erased is so here as well. */
const most = { kept: 10_000, milliseconds: 3_600_000 } as const;

/** Bytes of an answer with a hint. */
const mostHintBytes = 1 << 20;

/** @returns the hint for a request; "" where the guide gives none in time: then the next call asks again. */
export function hintsOf(
  guide: Answerer,
  limits: { readonly tokens: number; readonly seconds: number },
): (body: JsonObject, gone: AbortSignal) => Promise<string> {
  /** From the one that was heard of longest ago. */
  const kept = new Map<string, { readonly hint: string; readonly at: number }>();
  return async ({ messages, model }, gone) => {
    const opening = openingOf(listOf(messages));
    const key = createHash("sha256").update(JSON.stringify(opening)).digest("base64");
    const at = performance.now();
    for (const [old, { at: heard }] of kept) {
      if (kept.size < most.kept && at - heard < most.milliseconds) break;
      kept.delete(old);
    }
    const asked = { model: guide.model ?? model ?? "guide", opening };
    const hint = kept.get(key)?.hint ?? (await ask(guide, asked, gone, limits));
    kept.delete(key);
    if (hint !== "") kept.set(key, { hint, at });
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
      credentials: {},
      gone: late,
    });
    const text = await textIn(body, mostHintBytes);
    const answer = status < 400 ? objectOf(parsed(text)) : undefined;
    return textOf(objectOf(objectOf(listOf(answer?.choices)[0])?.message)?.content) ?? "";
  } catch (e) {
    if (gone.aborted) throw e;
    return "";
  }
}
