/** What an answer cost that was passed on without being parsed: budgets hold for it as well. */
import type { Message } from "../../core/types.ts";
import { type Tokens, tokensIn, tokensInMessages } from "../costs.ts";

/** The part of an answer that was not parsed. */
export interface Unread {
  /** Usage that it states. */
  readonly stated?: Tokens;
  readonly bytes: number;
}

/** Name of the tag of a record whose usage nobody stated. */
export const usageTag = "whetstone.usage";

const name = '"usage"';
/** Most places that are tried. */
const mostTried = 1000;
/** Bytes in which a usage names its sums. */
const within = 600;

/**
 * The usage that JSON states: of several, the largest numbers, since an answer may repeat what its client sent, such as a tool with a field of
 * that name. In texts the quotes are escaped.
 */
export function statedUsage(json: Uint8Array | string): Tokens | undefined {
  if (typeof json === "string" && !json.includes(name)) return undefined;
  const text =
    typeof json === "string" ? Buffer.from(json) : Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  let found: Tokens | undefined;
  let at = text.lastIndexOf(name);
  for (let tried = 0; at >= 0 && tried < mostTried; tried++) {
    found = larger(found, usageIn(text.toString("latin1", at + name.length, at + within)));
    at = at === 0 ? -1 : text.lastIndexOf(name, at - 1);
  }
  return found;
}

/** Both in the words of OpenAI's calls and of Anthropic's, whose input is stated in three parts. */
function usageIn(text: string): Tokens | undefined {
  if (!/^\s*:\s*\{/.test(text)) return undefined;
  const sum = (...names: readonly string[]): number =>
    names.reduce((n, one) => n + Number(new RegExp(`"${one}"\\s*:\\s*(\\d{1,12})`).exec(text)?.[1] ?? 0), 0);
  const input = sum(
    "prompt_tokens",
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
  );
  const output = sum("completion_tokens", "output_tokens");
  return input + output > 0 ? { input, output } : undefined;
}

/** Of two usages, the larger numbers. */
export const larger = (a: Tokens | undefined, b: Tokens | undefined): Tokens | undefined =>
  a && b ? { input: Math.max(a.input, b.input), output: Math.max(a.output, b.output) } : (a ?? b);

/** More of an answer that is not parsed. */
export const andUnread = (before: Unread | undefined, part: Uint8Array | string): Unread => {
  const stated = larger(before?.stated, statedUsage(part));
  return { ...(stated && { stated }), bytes: (before?.bytes ?? 0) + part.length };
};

/** Usage of a call whose answer was read in part or not at all. @param known from the part that was read. */
export function usageWith(
  { stated, bytes }: Unread,
  known: Tokens | undefined,
  prompt: readonly Message[],
): { readonly usage: Tokens; readonly isEstimated: boolean } {
  const usage = stated && larger(stated, known);
  if (usage) return { usage, isEstimated: false };
  const estimate = { input: tokensInMessages(prompt), output: tokensIn(bytes) };
  return { usage: larger(estimate, known)!, isEstimated: true };
}
