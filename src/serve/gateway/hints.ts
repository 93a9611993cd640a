/** Hints of a guide: one per conversation, written from its opening, as in training. */
import { createHash } from "node:crypto";
import { parsed } from "../../common/text/toolCalls.ts";
import { type Json, type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import { textOf as textIn } from "./answerBody.ts";
import type { Answerer } from "./answerer.ts";

/** Most conversations whose hints are cached, and milliseconds they are kept after the last call; the time limit also removes hints of erased users. */
const most = { kept: 10_000, milliseconds: 3_600_000 } as const;

/** Most bytes of a response with a hint. */
const mostHintBytes = 1 << 20;

/** @returns the hint for a request; "" if the guide gives none in time: the next call then asks again. */
export function hintsOf(
  guide: Answerer,
  limits: { readonly tokens: number; readonly seconds: number },
): (body: JsonObject, gone: AbortSignal) => Promise<string> {
  /** Least recently used first. */
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

/** The messages before the model's first reply: the same at every call of a conversation. */
function openingOf(messages: readonly Json[]): readonly Json[] {
  const first = messages.findIndex((message) => objectOf(message)?.role === "assistant");
  return first < 0 ? messages : messages.slice(0, first);
}

/** Asks the guide, without the client's keys. */
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
