/** The engine of a comparison's runs. */
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { engineNames, makeEngine } from "./catalogue.ts";
import { loadModule } from "./module.ts";
import { statedNumber } from "./numbers.ts";

/** Options of the command that name the engine. */
interface EngineOptions {
  readonly engine: string;
  readonly model?: string;
  readonly lora?: string;
  readonly threads?: string;
}

/** An engine by its name, or the one that a module exports. */
export async function engineFor({ engine: name, model, lora, threads }: EngineOptions): Promise<Engine> {
  const known = engineNames.find((one) => one === name);
  if (known)
    return await makeEngine(known, {
      model,
      lora: lora === undefined ? undefined : statedNumber("--lora", lora, 1),
      threads: threads === undefined ? undefined : statedNumber("--threads", threads, 1),
    });
  const surplus = Object.entries({ model, lora, threads }).find(([, value]) => value !== undefined);
  if (surplus) throw notWithModule(surplus[0]);
  if (!/\.[cm]?[jt]s$/.test(name)) throw unknownName("--engine", name, engineNames);
  const made = await loadModule(name);
  if (isEngine(made)) return made;
  throw new WhetstoneError("config.invalid", {
    where: name,
    got: "a default export that is not an engine",
    expected: "an engine with name, create and open",
    fix: "Export the engine by default: export default tabularEngine({ … }).",
  });
}

const notWithModule = (option: string): WhetstoneError =>
  new WhetstoneError("option.unknown", {
    where: `--${option}`,
    got: "an engine from a module",
    expected: "the local engine, whose options the command sets",
    fix: "Remove it and set it in the module, or leave out --engine.",
  });

const isEngine = (made: unknown): made is Engine =>
  typeof made === "object" && made !== null && "create" in made && "open" in made && "dispose" in made;
