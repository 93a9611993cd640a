/** Rewrites the client's request for the upstream, and removes from the response what the client did not request. */
import { type Json, type JsonObject, listOf, objectOf } from "../../core/json.ts";
import type { Answerer } from "./answerer.ts";
import type { Asked } from "./asked.ts";

/** The request to send, and what to remove from the response. */
export interface Asking {
  /** Absent: the client's body, byte for byte. */
  readonly body?: string;
  /** Parts that the gateway requested and the client did not; they are removed from the response. */
  readonly extra: { readonly ids: boolean; readonly logprobs: boolean; readonly usage: boolean };
  /** Set if the response is passed on byte for byte, its id included. */
  readonly asIs?: true;
}

/**
 * A request whose response is passed on as it is; the version's model replaces the client's.
 * @param isCounted as in {@link asking}, for calls that state their usage at the end of a stream only if asked.
 */
export function askingAsIs({ body }: Asked, { model }: Pick<Answerer, "model">, isCounted = false): Asking {
  const extra = { ids: false, logprobs: false, usage: isCounted && isUsageMissing(body) };
  const isNamed = model !== undefined && body.model !== model;
  if (!isNamed && !extra.usage) return { extra, asIs: true };
  const sent = { ...body, ...(isNamed ? { model } : {}), ...(extra.usage ? withUsage(body) : {}) };
  return { extra, asIs: true, body: JSON.stringify(sent) };
}

/** Whether an answer is streamed, in the words of any server, without its usage. */
const isUsageMissing = ({ stream, stream_options }: JsonObject): boolean =>
  (stream ?? false) !== false && objectOf(stream_options)?.include_usage !== true;
const withUsage = ({ stream_options }: JsonObject): JsonObject => ({
  stream_options: { ...objectOf(stream_options), include_usage: true },
});

/**
 * Requests token ids, log-probabilities and usage from exact versions; the version's model replaces the client's.
 * @param isCounted the call is paid from a budget: a streamed answer has to state its usage.
 */
export function asking(
  { body }: Asked,
  { model, exact }: Pick<Answerer, "model" | "exact">,
  isCounted = false,
): Asking {
  const extra = {
    ids: exact !== undefined && body.return_token_ids !== true,
    logprobs: exact !== undefined && body.logprobs !== true,
    usage: (exact !== undefined || isCounted) && isUsageMissing(body),
  };
  const named = model !== undefined && body.model !== model;
  if (!named && !extra.ids && !extra.logprobs && !extra.usage) return { extra };
  const sent: JsonObject = {
    ...body,
    ...(named ? { model } : {}),
    ...(extra.ids ? { return_token_ids: true } : {}),
    ...(extra.logprobs ? { logprobs: true } : {}),
    ...(extra.usage ? withUsage(body) : {}),
  };
  return { body: JSON.stringify(sent), extra };
}

/** The response, or a chunk of it, without the extra parts; nothing if nothing else remains. */
export function withoutExtra(value: Json, extra: Asking["extra"]): Json | undefined {
  const body = objectOf(value);
  if (!body) return value;
  const choices = listOf(body.choices);
  if (extra.usage && choices.length === 0 && objectOf(body.usage)) return undefined;
  const { prompt_token_ids, usage, ...rest } = body;
  return {
    ...rest,
    ...(extra.ids || prompt_token_ids === undefined ? {} : { prompt_token_ids }),
    ...(extra.usage || usage === undefined ? {} : { usage }),
    ...(body.choices === undefined ? {} : { choices: choices.map((one) => shownChoice(one, extra)) }),
  };
}

function shownChoice(value: Json, extra: Asking["extra"]): Json {
  const choice = objectOf(value);
  if (!choice) return value;
  const { token_ids, prompt_token_ids, logprobs, ...rest } = choice;
  return {
    ...rest,
    ...(logprobs === undefined ? {} : { logprobs: extra.logprobs ? null : logprobs }),
    ...(extra.ids || token_ids === undefined ? {} : { token_ids }),
    ...(extra.ids || prompt_token_ids === undefined ? {} : { prompt_token_ids }),
  };
}

/** Replaces the `id` in JSON text; everything else stays byte for byte. @param was its current id. */
export function withId(text: string, was: string, id: string): string {
  // nearly every server writes it so
  const compact = `"id":"${was}"`;
  const first = text.indexOf(idName);
  if (first >= 0 && text.startsWith(compact, first))
    return `${text.slice(0, first)}"id":${JSON.stringify(id)}${text.slice(first + compact.length)}`;
  const value = JSON.stringify(was);
  for (let at = text.indexOf(idName); at >= 0; at = text.indexOf(idName, at + idName.length)) {
    const colon = afterBlanks(text, at + idName.length);
    if (text[colon] !== ":") continue;
    const from = afterBlanks(text, colon + 1);
    if (!text.startsWith(value, from)) continue;
    return `${text.slice(0, from)}${JSON.stringify(id)}${text.slice(from + value.length)}`;
  }
  return text;
}

const idName = '"id"';

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (blanks.has(text.charCodeAt(at))) at++;
  return at;
}

/** JSON whitespace bytes. */
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
