/** A model that only talks: any provider's, with words for an interface, without weights and tokens of ours. */
import type { z } from "zod";
import { isWhetstoneError } from "./errors.ts";
import type { Message, StopReason, Tool } from "./types.ts";

export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[];
  readonly maxTokens?: number;
  /** Default: the provider's. */
  readonly temperature?: number;
  readonly stop?: readonly string[];
  /** Tells apart requests with equal words: equal seeds may be answered from the cache. Sent where providers take one. */
  readonly seed?: number;
}

export interface ChatReply {
  readonly message: Message;
  readonly stop: StopReason;
  /** As the provider counts them; 0 where it does not say. */
  readonly tokens: { readonly input: number; readonly output: number };
  /** Answered from the cache: nothing was paid. */
  readonly cached: boolean;
}

/** What was used so far. */
export interface Spend {
  /** Requests that the provider answered. */
  readonly calls: number;
  readonly cachedCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** By the prices that were stated; 0 without prices. */
  readonly usd: number;
}

/** Can be a policy, critic, judge, teacher or the user of a simulation. */
export interface Chat {
  readonly id: string;
  /**
   * @throws WhetstoneError `chat.failed` after the last attempt, `budget.spent` before a call that the limit may not bear,
   *   `provider.gone` where no request will be answered.
   */
  reply(request: ChatRequest): Promise<ChatReply>;
  /**
   * A reply as data: JSON that fits the schema. What does not fit is shown to the model once, with what is wrong.
   * @returns nothing where that did not help either: silence, not a guess.
   */
  ask<T>(request: ChatRequest, schema: z.ZodType<T>): Promise<T | undefined>;
  spent(): Spend;
}

/**
 * Whether an error ends the run, wherever it is noticed: there is nothing left to spend, or the provider answers no more. The run is
 * saved, and goes on once that has changed.
 */
export const endsRun = (e: unknown): boolean =>
  isWhetstoneError(e) && (e.code === "budget.spent" || e.code === "provider.gone");

/** For `catch`: a provider that fails costs one answer, and there is none; everything else is thrown on. See {@link endsRun}. */
export function unlessFailed(e: unknown): undefined {
  if (isWhetstoneError(e) && e.code === "chat.failed") return undefined;
  throw e;
}
