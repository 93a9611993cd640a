/** Any provider's embeddings, as the AI SDK has them, behind the contract of encoders. */
import type { EmbeddingModel } from "ai";
import { type Encoder, unitVector } from "../../core/encoder.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import { type Budget, budget as openBudget } from "./budget.ts";
import { failureOf } from "./failures.ts";

/** Settings of {@link providerEncoder}. */
export interface ProviderEncoderOptions {
  /** A model of the AI SDK, e.g. `openai.textEmbeddingModel("text-embedding-3-small")`. */
  readonly model: Exclude<EmbeddingModel, string>;
  /** Numbers in its vectors, e.g. 1536. */
  readonly width: number;
  /** Names it beside its vectors on a shelf. Default: provider, model id and width. */
  readonly id?: string;
  /** Dollars per million tokens. Default 0. */
  readonly price?: number;
  /** Shared by the models that are handed the same one. Default: one without limits. */
  readonly budget?: Budget;
  /** Further attempts after one that failed in a way that may pass. Default 2. */
  readonly retries?: number;
  /** Ends what is under way. */
  readonly stop?: AbortSignal;
}

/**
 * Asks a provider for vectors, in calls as large as it takes, within a budget. A collection on a shelf keeps them, so that
 * no text is paid for twice; a text without words is asked for as well, and providers may refuse it.
 * @throws WhetstoneError of `embed`: `budget.spent` before anything is sent; `chat.failed` where the provider fails or
 *   answers with vectors of another width.
 */
export function providerEncoder(options: ProviderEncoderOptions): Encoder {
  const { model, width, price = 0, budget = openBudget(), retries = 2, stop } = options;
  const id = options.id ?? `${model.provider}/${model.modelId}/${width}`;
  const failed = (got: string, expected: string, cause?: unknown): WhetstoneError =>
    new WhetstoneError("chat.failed", {
      where: id,
      got,
      expected,
      mend: "Check the model's name, address, key and `width`; `hashedText()` needs no provider.",
      cause,
    });
  return {
    id,
    width,
    async embed(texts) {
      if (texts.length === 0) return [];
      // with the first request, since it takes a third of a second to load
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
        // a provider that does not say what it used is charged with what it may have
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
