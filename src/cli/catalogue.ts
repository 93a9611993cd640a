/** Names that people type, and what they stand for. */
import { existsSync } from "node:fs";
import { WhetstoneError } from "../core/errors.ts";
import { unknownName } from "../core/suggest.ts";
import type { Engine } from "../engine/engine.ts";
import { defineEnvironment, type Environment } from "../env/environment.ts";
import { environments } from "../env/index.ts";
import { methods, type Recipe } from "../method/index.ts";
import { loadModule } from "./module.ts";

export const engineNames = ["local", "tabular"] as const;
export type EngineName = (typeof engineNames)[number];

/**
 * An environment of the catalogue, or the default export of a module.
 * @throws WhetstoneError `name.unknown` with the nearest name.
 */
export async function requireEnvironment(where: string, name: string): Promise<Environment> {
  const found = environments.find((e) => e.name === name);
  if (found) return found.make();
  if (!/\.[cm]?[jt]s$/.test(name) && !existsSync(name)) {
    throw unknownName(
      where,
      name,
      environments.map((e) => e.name),
    );
  }
  const made = await loadModule(name);
  if (typeof made === "object" && made !== null && !isConfig(made))
    return defineEnvironment(made as Environment);
  throw new WhetstoneError("config.invalid", {
    where: name,
    got: "a default export that is no environment",
    expected: "one with tasks and start",
    mend: "Export the environment by default: export default defineEnvironment({ … }).",
  });
}

/** Named in place of an environment by mistake. */
const isConfig = (made: object): boolean => "env" in made && !("tasks" in made);

/** @throws WhetstoneError `name.unknown` with the nearest name. */
export function requireMethod(where: string, id: string): Recipe {
  const found = methods.find((m) => m.id === id);
  if (found) return found;
  throw unknownName(
    where,
    id,
    methods.map((m) => m.id),
  );
}

/** Loaded when needed: commands that do not train start without an engine. */
export async function makeEngine(name: EngineName): Promise<Engine> {
  switch (name) {
    case "local":
      return (await import("../engine/local/index.ts")).localEngine();
    case "tabular":
      return (await import("../engine/tabular/engine.ts")).tabularEngine();
  }
}
