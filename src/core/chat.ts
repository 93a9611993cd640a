/** A chat model of any provider: text in, text out, without access to weights or tokens. */
import type { z } from "zod";
import { isWhetstoneError } from "./errors.ts";
import type { Message, StopReason, Tool } from "./types.ts";

/** A conversation to be continued by a chat model, with the tools offered to it and the limits of its reply. */
export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[];
  readonly maxTokens?: number;
  /** Default: the provider's. */
  readonly temperature?: number;
  /** Samples among the most probable tokens whose probabilities together reach this value. Default: the provider's. */
  readonly topP?: number;
  readonly stop?: readonly string[];
  /** Distinguishes requests with equal text: requests with equal seeds may be answered from the cache. Sent where the provider takes a seed. */
  readonly seed?: number;
  /** Aborted once nobody waits for the reply any longer, such as at a deadline: the request fails. No part of what is asked. */
  readonly signal?: AbortSignal;
}

/** A chat model's answer to one request, with what it cost in tokens. */
export interface ChatReply {
  readonly message: Message;
  readonly stop: StopReason;
  /** The provider's own count; 0 where it reports none. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** Answered from the cache, at no cost. */
  readonly cached: boolean;
}

/** Usage so far. */
export interface Spend {
  /** Requests that the provider answered. */
  readonly calls: number;
  readonly cachedCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars at the configured prices; 0 without prices. */
  readonly usd: number;
}

/** A chat model. It can act as policy, critiquer, judge, teacher or simulated user. */
export interface Chat {
  readonly id: string;
  /**
   * @throws WhetstoneError `chat.failed` after the last attempt, `budget.spent` before a call that could exceed the limit,
   *   `provider.gone` when the provider will answer no request.
   */
  reply(request: ChatRequest): Promise<ChatReply>;
  /**
   * A structured reply: JSON that fits the schema. A reply that does not fit is sent back to the model once, with the problem.
   * @returns undefined where the second reply does not fit either.
   */
  ask<T>(request: ChatRequest, schema: z.ZodType<T>): Promise<T | undefined>;
  spent(): Spend;
}

/**
 * Whether an error stops the run: the budget is spent, or the provider answers no more requests. The run is saved, and can
 * be resumed once the cause is removed.
 */
export const endsRun = (e: unknown): boolean =>
  isWhetstoneError(e) && (e.code === "budget.spent" || e.code === "provider.gone");

/** For `catch`: returns undefined for `chat.failed`, so that a failed request costs one answer; rethrows every other error. See {@link endsRun}. */
export function unlessFailed(e: unknown): undefined {
  if (isWhetstoneError(e) && e.code === "chat.failed") return undefined;
  throw e;
}
