/** Any LLM behind the AI SDK's provider interface, as a policy, critiquer, judge or simulated user. */
import { setTimeout } from "node:timers/promises";
import { APICallError } from "@ai-sdk/provider";
import type { LanguageModel } from "ai";
import PQueue from "p-queue";
import pRetry from "p-retry";
import type { Chat, ChatReply, ChatRequest } from "../../core/chat.ts";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Message } from "../../core/types.ts";
import { type Budget, budget as openBudget, type Price } from "./budget.ts";
import { keyOf, openCache } from "./cache.ts";
import { type Failure, failureOf, LateError, tooLarge } from "./failures.ts";
import { type Provider, returningProvider } from "./provider.ts";
import { askStructured } from "./structured.ts";

/** Settings of {@link chatModel}. */
export interface ChatOptions {
  /** A model of the AI SDK, e.g. `openai("gpt-5-mini")` or `createOpenAICompatible({ … })("qwen3")`. */
  readonly model: Exclude<LanguageModel, string>;
  /** Names the model in records and in the cache. Default: provider and model id. */
  readonly id?: string;
  readonly price?: Price;
  /** May be shared by several models. Default: a separate budget without limits. */
  readonly budget?: Budget;
  /** Folder of the response cache. Default: none. */
  readonly cache?: string;
  /** Maximum number of concurrent requests. Default 8. */
  readonly concurrency?: number;
  /** Default: no rate limit. */
  readonly requestsPerMinute?: number;
  /** Timeout of one attempt, in seconds. Default 120. */
  readonly timeoutSeconds?: number;
  /** Maximum retries after a transient failure: 408, 409, 429, 5xx, a lost connection, a timeout. Default 5. */
  readonly retries?: number;
  /** Seconds before the first retry; doubles with each next one, unless the provider asks for another wait. Default 1. */
  readonly backoffSeconds?: number;
  /**
   * If all requests fail for this many seconds, the provider counts as down and the run ends; before its first answer, at
   * most 10 seconds. Default 60.
   */
  readonly patienceSeconds?: number;
  /**
   * After this many seconds, a provider that is gone is asked again; twice as many after each time in vain, at most five minutes.
   * Until then every request fails at once. Default 10.
   */
  readonly againSeconds?: number;
  /** The source of the API key for error messages, such as "in OPENAI_API_KEY". */
  readonly key?: string;
  /** Maximum tokens of a reply if a request does not set it. Default 1024. */
  readonly maxTokens?: number;
  /** Aborts running requests. */
  readonly stop?: AbortSignal;
}

/**
 * A request passes the cache, the budget and the rate limit, and is retried up to `retries` times. Equal concurrent
 * requests are sent once. Replies are paid for once: the cache is written before they are returned. A provider that
 * permanently rejects the first requests, cannot be reached, or has stopped answering is not called for a while: every request
 * then fails with `provider.gone`, which ends a run where it is the policy, and costs a judgement where it is a judge.
 */
export function chatModel(options: ChatOptions): Chat {
  const {
    model,
    price = { input: 0, output: 0 },
    retries = 5,
    timeoutSeconds = 120,
    backoffSeconds = 1,
  } = options;
  const {
    budget = openBudget(),
    maxTokens: longest = 1024,
    patienceSeconds = 60,
    againSeconds = 10,
  } = options;
  const id = options.id ?? `${model.provider}/${model.modelId}`;
  const cache = options.cache === undefined ? undefined : openCache(options.cache);
  const perMinute = options.requestsPerMinute;
  const queue = new PQueue({
    concurrency: options.concurrency ?? 8,
    ...(perMinute === undefined ? {} : { interval: 60_000, intervalCap: perMinute, strict: true }),
  });
  const watch = returningProvider({
    model: model.modelId,
    ...{ patienceSeconds, againSeconds },
    ...(options.key === undefined ? {} : { key: options.key }),
  });
  const sending = ({ signal }: ChatRequest): Sending => {
    const provider = watch();
    const stop = options.stop ? AbortSignal.any([options.stop, provider.gone]) : provider.gone;
    return { provider, stop, over: signal ? AbortSignal.any([stop, signal]) : stop };
  };
  const underWay = new Map<string, Promise<ChatReply>>();

  /** Caches the reply before the next request may start: a killed process loses at most the running requests. */
  async function kept(key: string, request: ChatRequest, sent: Sending): Promise<Omit<ChatReply, "cached">> {
    const fresh = await attempt({ model, price, budget, longest, timeoutSeconds }, request, sent);
    await cache?.keep(key, fresh);
    return fresh;
  }

  function reach(key: string, request: ChatRequest, sent: Sending): Promise<Omit<ChatReply, "cached">> {
    const { provider, stop, over } = sent;
    const isUnheard = (): boolean => request.signal?.aborted === true;
    const began = performance.now();
    let before: unknown;
    return pRetry(() => queue.add(() => kept(key, request, sent), { signal: over }), {
      retries,
      minTimeout: backoffSeconds * 1000,
      randomize: true,
      signal: over,
      shouldRetry: ({ error }) => !isWhetstoneError(error) && mayPass(failureOf(error)),
      onFailedAttempt: async ({ error, retriesLeft, retryDelay }) => {
        if (isWhetstoneError(error) || stop.aborted) return;
        if (!isUnheard()) before = error;
        const failure = failureOf(isUnheard() ? new LateError((performance.now() - began) / 1000) : error);
        const again = retriesLeft > 0 && mayPass(failure) && !isUnheard();
        provider.failed(failure, !again);
        stop.throwIfAborted();
        const asked = askedToWait(error);
        if (again && asked > retryDelay) await setTimeout(asked - retryDelay, undefined, { signal: over });
      },
    }).catch((e: unknown) => {
      if (isWhetstoneError(e) || stop.aborted) throw stop.aborted ? stop.reason : e;
      // a request that nobody waits for any longer failed by what kept it from an answer
      const cause = isUnheard() ? (before ?? (e instanceof LateError ? e : request.signal?.reason)) : e;
      throw new WhetstoneError("chat.failed", {
        where: id,
        got: messageOf(cause),
        expected: "a reply",
        fix: "Check its address, key and limits; earlier answers are in the cache, if there is one.",
        cause,
      });
    });
  }

  /** Answers from the cache, or from the provider. */
  async function found(key: string, request: ChatRequest, sent: Sending): Promise<ChatReply> {
    const known = await cache?.find(key);
    if (known) return { ...known, cached: true };
    return { ...(await reach(key, request, sent)), cached: false };
  }

  async function reply(request: ChatRequest): Promise<ChatReply> {
    const sent = sending(request);
    sent.stop.throwIfAborted();
    const { signal: _, ...what } = request;
    const key = keyOf([id, { maxTokens: longest, ...what }]);
    const same = underWay.get(key);
    const asked = same ?? found(key, request, sent).finally(() => underWay.delete(key));
    underWay.set(key, asked);
    const known = await asked;
    const cached = known.cached || same !== undefined;
    if (cached) budget.cached();
    return { ...known, cached };
  }

  return {
    id,
    reply,
    ask: (request, schema) => askStructured({ reply }, request, schema),
    spent: () => budget.spent(),
  };
}

/** What a request is sent with: its provider of now, what ends all requests, and what ends this one. */
interface Sending {
  readonly provider: Provider;
  readonly stop: AbortSignal;
  readonly over: AbortSignal;
}

/** What every attempt goes by. */
interface Attempting {
  readonly model: ChatOptions["model"];
  readonly price: Price;
  readonly budget: Budget;
  readonly longest: number;
  readonly timeoutSeconds: number;
}

/** One attempt at the provider. */
async function attempt(
  { model, price, budget, longest, timeoutSeconds }: Attempting,
  request: ChatRequest,
  { provider, stop, over }: Sending,
): Promise<Omit<ChatReply, "cached">> {
  // imported with the first request, since it takes a third of a second to load
  const { generateText } = await import("ai");
  const { toModelMessages, toStop, toToolSet } = await import("./messages.ts");
  const { maxTokens = longest, tools, stop: stopAt } = request;
  const call = await budget.reserve({ input: atMost(request), output: maxTokens }, price);
  const late = AbortSignal.timeout(timeoutSeconds * 1000);
  const began = performance.now();
  try {
    const result = await generateText({
      model,
      messages: toModelMessages(request.messages),
      allowSystemInMessages: true,
      maxOutputTokens: maxTokens,
      maxRetries: 0,
      abortSignal: AbortSignal.any([over, late]),
      ...statedSampling(request),
      ...(stopAt?.length ? { stopSequences: [...stopAt] } : {}),
      ...(tools?.length ? { tools: toToolSet(tools) } : {}),
    });
    provider.answered();
    const { inputTokens, outputTokens } = result.usage;
    // a provider that does not report its usage is charged the maximum
    const said = inputTokens !== undefined && outputTokens !== undefined;
    call.paid(said ? { input: inputTokens, output: outputTokens } : undefined);
    const toolCalls = result.toolCalls.map((call) => ({
      id: call.toolCallId,
      name: call.toolName,
      arguments: JSON.stringify(call.input),
    }));
    const message: Message = {
      role: "assistant",
      content: result.text,
      ...(toolCalls.length > 0 ? { toolCalls } : {}),
    };
    const tokens = { input: inputTokens ?? 0, output: outputTokens ?? 0 };
    return { message, stop: toStop(result.finishReason), tokens };
  } catch (e) {
    const waited = late.aborted ? timeoutSeconds : (performance.now() - began) / 1000;
    const isLate = late.aborted || request.signal?.aborted;
    const error = isLate ? new LateError(waited) : (tooLarge(e) ?? e);
    if (!stop.aborted && failureOf(error).answered) call.paid();
    throw stop.aborted ? stop.reason : error;
  } finally {
    call.end();
  }
}

/** What of the sampling is not left to the provider. */
const statedSampling = ({ temperature, topP, seed }: ChatRequest) => ({
  ...(temperature === undefined ? {} : { temperature }),
  ...(topP === undefined ? {} : { topP }),
  ...(seed === undefined ? {} : { seed }),
});

/** Upper bound of a prompt's tokens: no tokenizer needs more than one per byte of text, and most need a third of that. */
function atMost({ messages, tools = [] }: ChatRequest): number {
  const bytes = Buffer.byteLength(JSON.stringify(messages)) + Buffer.byteLength(JSON.stringify(tools));
  return Math.ceil(bytes / 2);
}

/** Whether a retry of the same request may succeed. */
const mayPass = ({ kind }: Failure): boolean => kind !== "refused" && kind !== "request";

/** Milliseconds that the provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date; at most a minute. */
function askedToWait(error: unknown): number {
  const headers = APICallError.isInstance(error) ? (error.responseHeaders ?? {}) : {};
  const [ms, after] = [Number(headers["retry-after-ms"]), headers["retry-after"]];
  const asked =
    ms > 0 ? ms : after === undefined ? 0 : Number(after) * 1000 || Date.parse(after) - Date.now();
  return Math.min(60_000, Math.max(0, asked || 0));
}
