import type { Engine } from "../engine.ts";
import { lexiconCodec } from "./codec.ts";
import { openTabular, tabularCan, tabularModel } from "./model.ts";
import type { Reading } from "./reading.ts";
import { type ContextRule, type Features, newWeights, type Prior } from "./weights.ts";

export type { Reading } from "./reading.ts";
export type { ContextRule, Features, Prior } from "./weights.ts";

/** Settings of {@link tabularEngine}. */
export interface TabularOptions {
  /** What of a prefix makes a context: its last so many tokens, or the last message and the reply so far. Default: all. */
  readonly context?: ContextRule;
  /** Logits before any learning, of a word ("<end>" for the end) after a context in words. Default 0. */
  readonly prior?: Prior;
  /** What it makes of hints, guidance and feedback in its prompt: in-context reading. Default: every message is context. */
  readonly reading?: Reading;
  /** What contexts have in common, so that what is learnt in one holds in others. Default: nothing, a row for each. */
  readonly features?: Features;
}

/**
 * Policies that are tables: one softmax over the lexicon's words per context, exact gradients, and no generalisation but
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
    create: async ({ id, lexicon, contextTokens }) =>
      tabularModel(
        id,
        newWeights(lexiconCodec(lexicon), context, prior, new Map(), reading, features),
        contextTokens,
      ),
    open: (id, folder) => openTabular(id, folder, prior, reading, features),
    dispose: async () => {},
  };
}
