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
import { type Failure, failureOf, LateError } from "./failures.ts";
import { watchProvider } from "./provider.ts";
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
 * permanently rejects the first requests, cannot be reached, or has stopped answering is not called again: every request
 * then fails with `provider.gone`.
 */
export function chatModel(options: ChatOptions): Chat {
  const {
    model,
    price = { input: 0, output: 0 },
    retries = 5,
    timeoutSeconds = 120,
    backoffSeconds = 1,
  } = options;
  const { budget = openBudget(), maxTokens: longest = 1024, patienceSeconds = 60 } = options;
  const id = options.id ?? `${model.provider}/${model.modelId}`;
  const cache = options.cache === undefined ? undefined : openCache(options.cache);
  const perMinute = options.requestsPerMinute;
  const queue = new PQueue({
    concurrency: options.concurrency ?? 8,
    ...(perMinute === undefined ? {} : { interval: 60_000, intervalCap: perMinute, strict: true }),
  });
  const provider = watchProvider({
    model: model.modelId,
    patienceSeconds,
    ...(options.key === undefined ? {} : { key: options.key }),
  });
  const stop = options.stop ? AbortSignal.any([options.stop, provider.gone]) : provider.gone;
  const underWay = new Map<string, Promise<ChatReply>>();

  /** One attempt at the provider. */
  async function attempt(request: ChatRequest): Promise<Omit<ChatReply, "cached">> {
    // imported with the first request, since it takes a third of a second to load
    const { generateText } = await import("ai");
    const { toModelMessages, toStop, toToolSet } = await import("./messages.ts");
    const { maxTokens = longest, tools, stop: stopAt } = request;
    const call = await budget.reserve({ input: atMost(request), output: maxTokens }, price);
    const late = AbortSignal.timeout(timeoutSeconds * 1000);
    try {
      const result = await generateText({
        model,
        messages: toModelMessages(request.messages),
        allowSystemInMessages: true,
        maxOutputTokens: maxTokens,
        maxRetries: 0,
        abortSignal: AbortSignal.any([stop, late]),
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
      const error = late.aborted ? new LateError(timeoutSeconds) : e;
      if (!stop.aborted && failureOf(error).answered) call.paid();
      throw stop.aborted ? stop.reason : error;
    } finally {
      call.end();
    }
  }

  /** Caches the reply before the next request may start: a killed process loses at most the running requests. */
  async function kept(key: string, request: ChatRequest): Promise<Omit<ChatReply, "cached">> {
    const fresh = await attempt(request);
    await cache?.keep(key, fresh);
    return fresh;
  }

  const reach = (key: string, request: ChatRequest): Promise<Omit<ChatReply, "cached">> =>
    pRetry(() => queue.add(() => kept(key, request), { signal: stop }), {
      retries,
      minTimeout: backoffSeconds * 1000,
      randomize: true,
      signal: stop,
      shouldRetry: ({ error }) => !isWhetstoneError(error) && mayPass(failureOf(error)),
      onFailedAttempt: async ({ error, retriesLeft, retryDelay }) => {
        if (isWhetstoneError(error) || stop.aborted) return;
        const failure = failureOf(error);
        const again = retriesLeft > 0 && mayPass(failure);
        provider.failed(failure, !again);
        stop.throwIfAborted();
        const asked = askedToWait(error);
        if (again && asked > retryDelay) await setTimeout(asked - retryDelay, undefined, { signal: stop });
      },
    }).catch((e: unknown) => {
      if (isWhetstoneError(e) || stop.aborted) throw stop.aborted ? stop.reason : e;
      throw new WhetstoneError("chat.failed", {
        where: id,
        got: messageOf(e),
        expected: "a reply",
        fix: "Check its address, key and limits; earlier answers are in the cache, if there is one.",
        cause: e,
      });
    });

  /** Answers from the cache, or from the provider. */
  async function found(key: string, request: ChatRequest): Promise<ChatReply> {
    const known = await cache?.find(key);
    if (known) return { ...known, cached: true };
    return { ...(await reach(key, request)), cached: false };
  }

  async function reply(request: ChatRequest): Promise<ChatReply> {
    stop.throwIfAborted();
    const key = keyOf([id, { maxTokens: longest, ...request }]);
    const same = underWay.get(key);
    const asked = same ?? found(key, request).finally(() => underWay.delete(key));
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
