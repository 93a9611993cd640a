/** What is sent upstream in place of what the client asked, and what of the answer the client did not ask for. */
import { type Json, type JsonObject, listOf, objectOf } from "../../core/json.ts";
import type { Answerer } from "./answerer.ts";
import type { Asked } from "./asked.ts";

/** A request as it is sent, and what becomes of the answer. */
export interface Asking {
  /** Absent: as the client sent it, byte for byte. */
  readonly body?: string;
  /** What the client did not ask for, and does not get to see. */
  readonly extra: { readonly ids: boolean; readonly logprobs: boolean; readonly usage: boolean };
}

/** Exact versions are asked for token ids, log-probabilities and usage; a version's own model takes the place of the client's. */
export function asking({ body, stream }: Asked, { model, exact }: Pick<Answerer, "model" | "exact">): Asking {
  const options = objectOf(body.stream_options) ?? {};
  const extra = {
    ids: exact !== undefined && body.return_token_ids !== true,
    logprobs: exact !== undefined && body.logprobs !== true,
    usage: exact !== undefined && stream && options.include_usage !== true,
  };
  const named = model !== undefined && body.model !== model;
  if (!named && !extra.ids && !extra.logprobs && !extra.usage) return { extra };
  const sent: JsonObject = {
    ...body,
    ...(named ? { model } : {}),
    ...(extra.ids ? { return_token_ids: true } : {}),
    ...(extra.logprobs ? { logprobs: true } : {}),
    ...(extra.usage ? { stream_options: { ...options, include_usage: true } } : {}),
  };
  return { body: JSON.stringify(sent), extra };
}

/** The answer, or a chunk of it, as the client asked for it; nothing where the whole of it was for us. */
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

/** JSON text with another `id`; all else stays as it is written. @param was its id so far. */
export function withId(text: string, was: string, id: string): string {
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

/** Those that JSON allows between its parts. */
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
