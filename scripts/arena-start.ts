/**
 * Makes the weights that all methods begin from in the arena "search", which are committed in its folder:
 *
 *     node scripts/arena-start.ts FOLDER
 *
 * A decoder of two layers imitates the flawed player of the facts environment for 220 updates: it knows the commands, copies
 * names uncertainly and seldom gets through long questions. Other machines may differ from the committed file in the last bits.
 */
import { localEngine } from "../src/engine/local/index.ts";
import { facts } from "../src/env/facts/facts.ts";
import { findMethod } from "../src/methods/catalogue.ts";
import { train } from "../src/train/run.ts";

const out = process.argv[2];
if (!out) throw new Error("node scripts/arena-start.ts FOLDER");
const size = { width: 96, layers: 2, heads: 2, kvHeads: 2, feedForward: 192 };
const engine = localEngine({ threads: 1, size });
const { weights } = await train(
  {
    environment: facts(),
    method: findMethod("grpo").build({}),
    engine,
    seed: 1,
    iterations: 0,
    contextTokens: 96,
    warmStart: { updates: 220 },
    evaluation: { tasks: 0, every: 0 },
    out,
  },
  (event) => event.type === "warmstart" && console.log(event.update, event.validation ?? ""),
  new AbortController().signal,
);
await engine.dispose();
console.log(weights);
