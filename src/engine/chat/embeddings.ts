/** Any provider's embeddings, through the AI SDK, as an `Encoder`. */
import type { EmbeddingModel } from "ai";
import { type Encoder, unitVector } from "../../core/encoder.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import { type Budget, budget as openBudget } from "./budget.ts";
import { failureOf } from "./failures.ts";

/** Settings of {@link providerEncoder}. */
export interface ProviderEncoderOptions {
  /** A model of the AI SDK, e.g. `openai.textEmbeddingModel("text-embedding-3-small")`. */
  readonly model: Exclude<EmbeddingModel, string>;
  /** Vector width, e.g. 1536. */
  readonly width: number;
  /** Names the encoder in stored vectors. Default: provider, model id and width. */
  readonly id?: string;
  /** Dollars per million tokens. Default 0. */
  readonly price?: number;
  /** May be shared by several models. Default: a separate budget without limits. */
  readonly budget?: Budget;
  /** Maximum retries after a transient failure. Default 2. */
  readonly retries?: number;
  /** Aborts running requests. */
  readonly stop?: AbortSignal;
}

/**
 * Requests vectors from a provider, in batches as large as it accepts, within a budget. A stored collection keeps them,
 * so no text is paid for twice. A text without words is requested as well, and providers may reject it.
 * @throws WhetstoneError of `embed`: `budget.spent` before anything is sent; `chat.failed` if the provider fails or
 *   returns vectors of another width.
 */
export function providerEncoder(options: ProviderEncoderOptions): Encoder {
  const { model, width, price = 0, budget = openBudget(), retries = 2, stop } = options;
  const id = options.id ?? `${model.provider}/${model.modelId}/${width}`;
  const failed = (got: string, expected: string, cause?: unknown): WhetstoneError =>
    new WhetstoneError("chat.failed", {
      where: id,
      got,
      expected,
      fix: "Check the model's name, address, key and `width`; `hashedText()` needs no provider.",
      cause,
    });
  return {
    id,
    width,
    async embed(texts) {
      if (texts.length === 0) return [];
      // imported with the first request, since it takes a third of a second to load
      const { embedMany } = await import("ai");
      const most = texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 2) + 1, 0);
      const atOnce = (await model.maxEmbeddingsPerCall) ?? Number.POSITIVE_INFINITY;
      const call = await budget.reserve({ input: most, output: 0 }, { input: price, output: 0 });
      try {
        const made = await embedMany({
          model,
          values: [...texts],
          maxRetries: retries,
          ...(stop ? { abortSignal: stop } : {}),
        });
        // a provider that does not report its usage is charged the maximum
        call.paid(Number.isFinite(made.usage.tokens) ? { input: made.usage.tokens, output: 0 } : undefined);
        const wrong = made.embeddings.find((vector) => vector.length !== width);
        if (wrong) throw failed(`vectors of ${wrong.length} numbers`, `${width}`);
        return made.embeddings.map(unitVector);
      } catch (e) {
        if (e instanceof WhetstoneError || stop?.aborted) throw e;
        // of several calls, some may have been answered
        if (failureOf(e).answered || texts.length > atOnce) call.paid();
        throw failed(messageOf(e), `vectors of ${texts.length} texts`, e);
      } finally {
        call.end();
      }
    },
  };
}
