import type { Engine } from "../engine.ts";
import { vocabularyCodec } from "./codec.ts";
import { openTabular, tabularCan, tabularModel } from "./model.ts";
import type { Reading } from "./reading.ts";
import { type ContextRule, type Features, newWeights, type Prior } from "./weights.ts";

export type { Reading } from "./reading.ts";
export type { ContextRule, Features, Prior } from "./weights.ts";

/** Settings of {@link tabularEngine}. */
export interface TabularOptions {
  /** The part of a prefix that is the context: its last N tokens, or the last message and the reply so far. Default: all. */
  readonly context?: ContextRule;
  /** Initial logit of a word ("<end>" for the end) after a context given in words. Default 0. */
  readonly prior?: Prior;
  /** In-context reading: the effect of hints, guidance and feedback in the prompt. Default: every message is context. */
  readonly reading?: Reading;
  /** Features that contexts share, so that learning generalises. Default: none, a separate row for each context. */
  readonly features?: Features;
}

/**
 * Tabular policies: one softmax over the vocabulary's words per context, exact gradients, and no generalisation except
 * through `features`.
 */
export function tabularEngine({
  context = Number.POSITIVE_INFINITY,
  prior,
  reading,
  features,
}: TabularOptions = {}): Engine {
  return {
    name: "tabular",
    can: tabularCan,
    learningRate: 0.1,
    create: async ({ id, vocabulary, contextTokens }) =>
      tabularModel(
        id,
        newWeights(vocabularyCodec(vocabulary), context, prior, new Map(), reading, features),
        contextTokens,
      ),
    open: (id, folder) => openTabular(id, folder, prior, reading, features),
    dispose: async () => {},
  };
}
