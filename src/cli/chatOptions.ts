/** What `--engine chat` is told: whose model, and what it may cost. */
import { WhetstoneError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";

/** A model behind an OpenAI-compatible address, as the command line or a config file states it. */
export interface ChatModelSettings {
  readonly model?: string | undefined;
  readonly url?: string | undefined;
  /** Name of the environment variable that holds the key. */
  readonly keyEnv?: string | undefined;
  /** Dollars, over all processes of a run. */
  readonly maxSpend?: number | undefined;
  /** Dollars per million tokens read and written, as in "0.25,2". */
  readonly price?: string | undefined;
  /** Most requests to the provider. */
  readonly maxCalls?: number | undefined;
  /** Most tokens, read and written. */
  readonly maxTokens?: number | undefined;
  /** Most tokens of a reply. */
  readonly replyTokens?: number | undefined;
  /** Folder of replies. */
  readonly cache?: string | undefined;
  /** Where the run notes what it has spent: its limits hold for all its processes together. No flag. */
  readonly ledger?: string | undefined;
}

export const chatModelKeys = [
  "model",
  "url",
  "keyEnv",
  "maxSpend",
  "price",
  "maxCalls",
  "maxTokens",
  "replyTokens",
  "cache",
  "ledger",
] as const;

/**
 * The model as the policy of a run, for methods without weights.
 * @param say is told at the end what was used. @param stop ends replies under way.
 * @throws WhetstoneError `option.range`.
 */
export async function configuredChatEngine(
  told: ChatModelSettings,
  say: (line: string) => void,
  stop: AbortSignal = new AbortController().signal,
): Promise<Engine> {
  const { model, url, keyEnv, maxSpend, price, maxCalls, maxTokens, replyTokens } = told;
  const { cache = "runs/chat", ledger } = told;
  if (url === undefined || model === undefined) {
    throw new WhetstoneError("option.range", {
      where: "--engine chat",
      got: url === undefined ? "no --url" : "no --model",
      expected: "the address of an OpenAI-compatible API, and which of its models",
      fix: "For example: whetstone train --engine chat --url http://127.0.0.1:8080/v1 --model qwen3 --method gepa.",
    });
  }
  const { chatOf, spendLine } = await import("./chat.ts");
  const { chatEngine } = await import("../engine/chat/index.ts");
  const limits = {
    ...(maxSpend === undefined ? {} : { maxSpend: String(maxSpend) }),
    ...(price === undefined ? {} : { price }),
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(replyTokens === undefined ? {} : { replyTokens: String(replyTokens) }),
  };
  const chat = chatOf(
    { chat: url, model, cache, ...(keyEnv === undefined ? {} : { keyEnv }), ...limits },
    stop,
    ledger === undefined ? {} : { ledger },
  );
  return { ...chatEngine(chat), dispose: async () => say(`${model}: ${spendLine(chat.spent())}`) };
}
