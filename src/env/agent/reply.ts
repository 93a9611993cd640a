/** Chat-completion replies in OpenAI's protocol: what a client gets to see of what a policy wrote. */

import { parsed, readCalls } from "../../common/text/toolCalls.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Message, StopReason, ToolCall } from "../../core/types.ts";
import type { SampledAction } from "../environment.ts";
import type { ChatCall, Refusal } from "./request.ts";

/** One reply, as the model gave it. */
export interface Completion {
  /** The whole text, calls and stop string included. */
  readonly text: string;
  readonly stop: StopReason;
  /** Calls that a provider has read already, in place of those in the text. */
  readonly toolCalls?: readonly ToolCall[];
  readonly sampled?: SampledAction;
  /** Tokens of the prompt that were not computed, since an earlier one began alike. */
  readonly reused?: number;
}

/** A reply as the client sees it. */
export interface Reply {
  readonly message: Message;
  readonly finish: "stop" | "length" | "tool_calls";
}

/** What the client gets to see of a reply: calls apart from the text, without the stop string. @param id of each call. */
export function replyOf(call: ChatCall, made: Completion, id: (k: number) => string): Reply {
  const { text, stop, toolCalls } = made;
  const read = toolCalls
    ? { content: text, calls: toolCalls }
    : readCalls(withoutStop(text, stop, call.stop), call.tools);
  const calls = read.calls.slice(0, call.oneCall ? 1 : undefined);
  const content = call.json && calls.length === 0 ? jsonWithin(read.content) : read.content;
  return {
    message: {
      role: "assistant",
      content,
      ...(calls.length > 0 ? { toolCalls: calls.map((c, k) => ({ id: id(k), ...c })) } : {}),
    },
    finish: calls.length > 0 ? "tool_calls" : stop === "length" ? "length" : "stop",
  };
}

/**
 * How much of a reply that is being written certainly stands at the beginning of its {@link Reply}: nothing that may become a
 * stop string or a call, nor white space around a call. A reply whose tokens or JSON are asked for is shown as a whole.
 */
export function shownSoFar({ json, tools, stop = [], tokenIds, logprobs }: ChatCall, text: string): string {
  if (json || tokenIds || logprobs) return "";
  const shown = text.slice(
    0,
    Math.min(...[...stop, ...(tools.length > 0 ? openings : [])].map(startIn(text)), text.length),
  );
  if (tools.length === 0) return shown;
  return /^[\s{]/.test(shown) ? "" : shown.trimEnd();
}

/** What calls begin with. */
const openings = ["<tool_call>", "</tool_call>", "<function", "</function"];

/** Where a mark begins in a text, or may begin at its end. */
const startIn =
  (text: string) =>
  (mark: string): number => {
    const at = text.indexOf(mark);
    if (at >= 0) return at;
    for (let length = Math.min(mark.length - 1, text.length); length > 0; length--)
      if (text.endsWith(mark.slice(0, length))) return text.length - length;
    return text.length;
  };

function withoutStop(text: string, stop: StopReason, stops: readonly string[] = []): string {
  if (stop !== "stop") return text;
  const at = stops.map((s) => text.indexOf(s)).filter((i) => i >= 0);
  return at.length === 0 ? text : text.slice(0, Math.min(...at));
}

/** The JSON in a text that has more around it; the text itself where there is none. */
function jsonWithin(text: string): string {
  const [, fenced] = /```(?:json)?([\s\S]*?)```/.exec(text) ?? [];
  const [from, to] = [text.search(/[{[]/), Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"))];
  const braces = from >= 0 && from < to ? text.slice(from, to + 1) : undefined;
  const candidates = [text.trim(), fenced?.trim(), braces];
  return candidates.find((c) => c !== undefined && parsed(c) !== undefined) ?? text;
}

/** What stands in every answer to one request. */
export interface Envelope {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
}

/** Replies and what they came from, as one `chat.completion`. */
export function completionBody(
  call: ChatCall,
  { id, created }: Envelope,
  made: readonly (readonly [Completion, Reply])[],
): Json {
  return {
    id,
    object: "chat.completion",
    created,
    model: call.model,
    choices: made.map(([completion, { message, finish }], index) => ({
      index,
      message: { ...spoken(message), refusal: null },
      finish_reason: finish,
      logprobs: logprobsOf(call, completion),
      ...tokenIdsOf(call, completion),
    })),
    usage: usageOf(made),
    ...promptIdsOf(call, made),
  };
}

/** Replies as server-sent events. */
export interface ReplyEvents {
  /** More of the replies, from their texts so far. Empty if there is no more to show. */
  written(texts: readonly string[]): string;
  /** The rest: what is not shown yet, calls, ends, and what it took, where that was asked for. */
  ended(made: readonly (readonly [Completion, Reply])[]): string;
}

export function replyEvents(call: ChatCall, { id, created }: Envelope): ReplyEvents {
  const head = { id, object: "chat.completion.chunk", created, model: call.model };
  /** What is shown of each reply, once it has begun. */
  const shown: string[] = [];
  const chunk = (index: number, delta: Json, more: JsonObject = {}): JsonObject => ({
    ...head,
    choices: [{ index, delta, finish_reason: null, ...more }],
  });
  function begun(index: number, ids: JsonObject = {}): JsonObject[] {
    if (shown[index] !== undefined) return [];
    shown[index] = "";
    return [{ ...chunk(index, { role: "assistant", content: "" }), ...ids }];
  }
  const events = (chunks: readonly (Json | "[DONE]")[]): string =>
    chunks.map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`).join("");
  return {
    written(texts) {
      const chunks = texts.flatMap((text, index) => {
        const all = shownSoFar(call, text);
        const content = all.slice(shown[index]?.length);
        if (content === "") return [];
        const first = begun(index);
        shown[index] = all;
        return [...first, chunk(index, { content })];
      });
      return events(chunks);
    },
    ended(made) {
      const chunks = made.flatMap(([completion, { message, finish }], index) => {
        const first = begun(index, index === 0 ? promptIdsOf(call, made) : {});
        const said = spoken(message);
        const content = said.content?.slice(shown[index]!.length) ?? null;
        const tokens = { logprobs: logprobsOf(call, completion), ...tokenIdsOf(call, completion) };
        return [
          ...first,
          ...(first.length > 0 || content ? [chunk(index, { content }, tokens)] : []),
          ...(said.tool_calls ?? []).map((c, k) => chunk(index, { tool_calls: [{ index: k, ...c }] })),
          chunk(index, {}, { finish_reason: finish }),
        ];
      });
      const usage = call.includeUsage ? [{ ...head, choices: [], usage: usageOf(made) }] : [];
      return events([...chunks, ...usage, "[DONE]"]);
    },
  };
}

/** An error as the protocol has it. */
export const refusalBody = ({ type, code, message }: Refusal): Json => ({
  error: { message, type, param: null, code },
});

/** A message of the policy as the protocol has it: no text beside calls is null. */
function spoken({ content, toolCalls = [] }: Message) {
  return {
    role: "assistant",
    content: content === "" && toolCalls.length > 0 ? null : content,
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({
        id,
        type: "function",
        function: { name, arguments: given },
      })),
    }),
  };
}

function logprobsOf(call: ChatCall, { sampled }: Completion): Json {
  if (!call.logprobs || !sampled) return null;
  return {
    content: sampled.pieces().map((token, i) => ({
      token,
      logprob: sampled.tokens.logp[i] ?? null,
      bytes: [...new TextEncoder().encode(token)],
      top_logprobs: [],
    })),
    refusal: null,
  };
}

const tokenIdsOf = (call: ChatCall, { sampled }: Completion): JsonObject =>
  call.tokenIds && sampled ? { token_ids: [...sampled.tokens.action] } : {};

function promptIdsOf(call: ChatCall, [first]: readonly (readonly [Completion, Reply])[]): JsonObject {
  const prompt = first?.[0].sampled?.tokens.prompt;
  return call.tokenIds && prompt ? { prompt_token_ids: [...prompt] } : {};
}

function usageOf(made: readonly (readonly [Completion, Reply])[]): Json {
  const prompt = made[0]?.[0].sampled?.tokens.prompt.length ?? 0;
  const completion = made.reduce((sum, [{ sampled }]) => sum + (sampled?.tokens.action.length ?? 0), 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: made[0]?.[0].reused ?? 0 },
  };
}
