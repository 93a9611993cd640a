/**
 * Makes the weights that all methods begin from in an arena, which are committed in its folder:
 *
 *     node scripts/arena-start.ts NAME FOLDER
 *
 * A decoder imitates a flawed player, as the arena's `warmStart` says. Other machines may differ from the committed file in the
 * last bits.
 */
import { arenas } from "../src/arenas/index.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { findMethod } from "../src/methods/catalogue.ts";
import { train } from "../src/train/run.ts";

const [name, out] = process.argv.slice(2);
const arena = arenas.find((one) => one.name === name);
if (!arena || !out)
  throw new Error(
    `node scripts/arena-start.ts NAME FOLDER; names: ${arenas.map((one) => one.name).join(", ")}`,
  );
const { size, updates, environment } = arena.warmStart;
const engine = localEngine({ threads: 1, size });
const { weights } = await train(
  {
    environment: environment?.() ?? arena.environment(),
    method: findMethod("grpo").build({}),
    engine,
    seed: 1,
    iterations: 0,
    contextTokens: arena.budget.contextTokens,
    warmStart: { updates },
    evaluation: { tasks: 0, every: 0 },
    out,
  },
  (event) => event.type === "warmstart" && console.log(event.update, event.validation ?? ""),
  new AbortController().signal,
);
await engine.dispose();
console.log(weights);
