/** Checks the parts and capabilities that a run needs. */
import { WhetstoneError } from "../core/errors.ts";
import type { Capability } from "../core/model.ts";
import type { Method } from "../core/slots.ts";
import type { Engine } from "../engine/engine.ts";
import { briefly } from "../env/contract.ts";
import type { ConfigOptions } from "./config.ts";

/** Types do not bind JavaScript. @throws WhetstoneError `config.invalid` where a part is none, such as its name. */
export function requireParts(options: Pick<ConfigOptions, "environment" | "method" | "engine">): void {
  const parts = {
    environment: [
      "tasks",
      "an environment",
      "For example environments.find(({ name }) => name === ...).make().",
    ],
    method: ["slots", "a built method", "Build its recipe, such as grpo.build()."],
    engine: ["create", "an engine", "Make one, such as tabularEngine() or localEngine()."],
  } as const;
  for (const name of ["environment", "method", "engine"] as const) {
    const part: unknown = options[name];
    const [key, expected, fix] = parts[name];
    if (typeof part === "object" && part !== null && key in part) continue;
    throw new WhetstoneError("config.invalid", {
      where: `train(): ${name}`,
      got: briefly(part),
      expected,
      fix,
    });
  }
}

/** @throws WhetstoneError `capability.missing`. */
export function requireNeeds(method: Method, engine: Pick<Engine, "name" | "can">, staleness: number): void {
  const needs = new Set<Capability>([...method.needs, ...(staleness > 0 ? (["freeze"] as const) : [])]);
  const missing = [...needs].filter((need) => !engine.can.has(need));
  if (missing.length === 0) return;
  throw new WhetstoneError("capability.missing", {
    where: `method "${method.id}" on engine "${engine.name}"`,
    got: `no ${missing.join(", no ")}`,
    expected: `an engine with ${[...needs].join(", ")}`,
    fix: "Choose another engine, or a method that this engine supports.",
  });
}
