/** Options of commands that talk to somebody else's model. */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Command } from "commander";
import { numberIn } from "../common/text/numberIn.ts";
import type { Chat, Spend } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import { boundedFetch } from "../engine/chat/boundedFetch.ts";
import { budget } from "../engine/chat/budget.ts";
import { type ChatOptions, chatModel } from "../engine/chat/chat.ts";
import { openLedger } from "../engine/chat/ledger.ts";
import { statedNumber } from "./numbers.ts";
import { number } from "./output.ts";
import { replyTokensOf } from "./sampling.ts";

export interface ChatFlags {
  readonly chat?: string;
  readonly model?: string;
  /** Default: OPENAI_API_KEY. */
  readonly keyEnv?: string;
  readonly maxSpend?: string;
  readonly price?: string;
  /** Most requests to the provider. */
  readonly maxCalls?: number;
  /** Most tokens, read and written. */
  readonly maxTokens?: number;
  /** Most tokens of a reply. Default: the chat engine's. */
  readonly replyTokens?: string;
  readonly cache: string;
}

/** Adds what {@link chatOf} reads. */
export const withChatFlags = (command: Command): Command =>
  command
    .option("--chat <url>", "a model behind an OpenAI-compatible address, e.g. http://127.0.0.1:8080/v1")
    .option(
      "--model <folder|file.gguf|owner/name>",
      "pretrained model: a folder, a file, or a name on the Hugging Face Hub; with --chat: name of one of the API's models",
    )
    .option(
      "--key-env <name>",
      "with --chat: environment variable that holds the key (default: OPENAI_API_KEY)",
    )
    .option(
      "--max-calls <n>",
      "with --chat: stop before more requests than this reach the provider",
      (text: string) => statedNumber("--max-calls", text, 1),
    )
    .option("--max-spend <usd>", "with --chat and --price: stop before more than this is spent")
    .option("--price <in,out>", "with --chat: dollars per million tokens read and written, e.g. 0.25,2")
    .option(
      "--cache <folder>",
      "with --chat: where replies are kept, so that none is paid for twice",
      "runs/chat",
    );

/** What a command says of its calls beside the flags. */
type ChatSettings = Pick<ChatOptions, "timeoutSeconds" | "concurrency" | "againSeconds"> & {
  readonly ledger?: string;
};

/**
 * The model that the flags name.
 * @param settings `ledger`: file of what a run has spent, for limits that hold for the whole of it; by default, for this process.
 * @throws WhetstoneError `option.range`, `checkpoint.damaged`.
 */
export function chatOf(flags: ChatFlags, stop: AbortSignal, { ledger, ...calls }: ChatSettings = {}): Chat {
  const { chat: url = "", model, keyEnv = "OPENAI_API_KEY", cache } = flags;
  const replyTokens = replyTokensOf(flags);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw wrong(
      "--chat",
      `"${url}"`,
      "an address such as http://127.0.0.1:8080/v1",
      "Give the address of the API.",
    );
  }
  if (model === undefined)
    throw wrong("--model", "none", "the model's name", `Name a model from the list at ${url}/models.`);
  const prices = flags.price?.split(",").map(numberIn) ?? [];
  const [input, output] = prices;
  if (flags.price !== undefined && (prices.length !== 2 || !prices.every((p) => p >= 0)))
    throw wrong("--price", `"${flags.price}"`, "two numbers, for tokens read and written", "Write 0.25,2.");
  const usd = flags.maxSpend === undefined ? undefined : numberIn(flags.maxSpend);
  if (usd !== undefined && !(usd > 0 && input !== undefined)) {
    throw wrong(
      "--max-spend",
      `"${flags.maxSpend}"`,
      "dollars above 0, and --price beside it",
      "Write --max-spend 0.50 --price 0.25,2.",
    );
  }
  const key = process.env[keyEnv];
  const provider = createOpenAICompatible({
    name: new URL(url).host,
    baseURL: url,
    fetch: boundedFetch,
    ...(key === undefined ? {} : { apiKey: key }),
  });
  return chatModel({
    model: provider(model),
    budget: budget(
      {
        ...(usd === undefined ? {} : { usd }),
        ...(flags.maxCalls === undefined ? {} : { calls: flags.maxCalls }),
        ...(flags.maxTokens === undefined ? {} : { tokens: flags.maxTokens }),
      },
      ledger === undefined ? undefined : openLedger(ledger),
    ),
    cache,
    stop,
    ...calls,
    ...(replyTokens !== undefined && { maxTokens: replyTokens }),
    key: key === undefined ? `(${keyEnv} is not set)` : `in ${keyEnv}`,
    ...(input === undefined || output === undefined ? {} : { price: { input, output } }),
  });
}

/** What was used, in a line. */
export const spendLine = ({ calls, cachedCalls, inputTokens, outputTokens, usd }: Spend): string =>
  `${calls} calls (${cachedCalls} more from the cache), ${inputTokens} tokens read, ${outputTokens} written${usd > 0 ? `, $${number(usd)}` : ""}`;

const wrong = (where: string, got: string, expected: string, fix: string): WhetstoneError =>
  new WhetstoneError("option.range", { where, got, expected, fix });
