import type { Engine } from "../engine.ts";
import { lexiconCodec } from "./codec.ts";
import { openTabular, tabularCan, tabularModel } from "./model.ts";
import { newWeights } from "./weights.ts";

/** Settings of {@link tabularEngine}. */
export interface TabularOptions {
  /** How many of the last tokens make a context. Default: the whole prefix. */
  readonly context?: number;
}

/** Policies that are tables: one softmax over the lexicon's words per context, exact gradients, no generalisation. */
export function tabularEngine({ context = Number.POSITIVE_INFINITY }: TabularOptions = {}): Engine {
  return {
    name: "tabular",
    can: tabularCan,
    learningRate: 0.1,
    create: async ({ id, lexicon, contextTokens }) =>
      tabularModel(id, newWeights(lexiconCodec(lexicon), context), contextTokens),
    open: openTabular,
    dispose: async () => {},
  };
}
