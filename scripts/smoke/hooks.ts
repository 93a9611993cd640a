/**
 * Makes checks hand over what they would train, on a transformer. A check builds its world, its policy and its method
 * within `measure`; what it imports there is replaced:
 *
 *     engine/tabular/engine.ts   →  tabularEngine.ts   a local engine with one layer
 *     train/trainInMemory.ts     →  trainInMemory.ts   which hands over the run
 */
import { registerHooks } from "node:module";

const replaced: Readonly<Record<string, string>> = {
  "/src/engine/tabular/engine.ts": new URL("./tabularEngine.ts", import.meta.url).href,
  "/src/train/trainInMemory.ts": new URL("./trainInMemory.ts", import.meta.url).href,
};
/** Only what checks are made of gets the replacements. */
const importers = /\/src\/(methods|worlds)\/|\/src\/train\/trainingArm\.ts$/;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    if (!importers.test(context.parentURL ?? "")) return found;
    const [, url] = Object.entries(replaced).find(([path]) => found.url.endsWith(path)) ?? [];
    return url === undefined ? found : { ...found, url };
  },
});
