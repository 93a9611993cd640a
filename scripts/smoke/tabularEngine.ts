/** Stands in for the tabular engine in checks; see hooks.ts. */
import { localEngine } from "../../src/engine/local/index.ts";

/** One layer: some milliseconds an update. */
const size = { width: 32, layers: 1, heads: 2, kvHeads: 2, feedForward: 64 };

/** A local engine with tiny transformers. Options of tables, such as priors, do not apply to it. */
export const tabularEngine = () => localEngine({ size, threads: 1 });
