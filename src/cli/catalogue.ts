/** Names that people type, and what they stand for. */
import { existsSync } from "node:fs";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import type { DecoderSize } from "../engine/local/config.ts";
import { type Device, deviceByDefault } from "../engine/local/devices.ts";
import type { FetchProgress } from "../engine/local/hub.ts";
import type { LocalOptions, LoraOptions } from "../engine/local/index.ts";
import type { Precision } from "../engine/local/precision.ts";
import { defineEnvironment, type Environment } from "../env/environment.ts";
import { environments } from "../env/index.ts";
import { type ChatModelSettings, chatModelKeys, configuredChatEngine } from "./chatOptions.ts";
import { flagOf } from "./flagOf.ts";
import { loadModule } from "./module.ts";
import { serverEngine, type TrainingServer, trainingServerKeys } from "./tinker.ts";

export const engineNames = ["local", "tabular", "tinker", "chat"] as const;
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
    got: "a default export that is not an environment",
    expected: "an environment with tasks and start",
    fix: "Export the environment by default: export default defineEnvironment({ … }).",
  });
}

/** Named in place of an environment by mistake. */
const isConfig = (made: object): boolean => "env" in made && !("tasks" in made);

/** What an engine can be told. */
export interface EngineOptions extends TrainingServer, ChatModelSettings {
  readonly model?: string | undefined;
  readonly size?: DecoderSize | undefined;
  readonly lora?: number | LoraOptions | undefined;
  readonly toolsInText?: boolean | undefined;
  readonly device?: Device | undefined;
  readonly precision?: Precision | undefined;
  readonly threads?: number | undefined;
  /** MiB. */
  readonly memory?: number | undefined;
}

/** What a command has around an engine. */
export interface EngineSurroundings {
  /** Is told how far a download is. */
  readonly progress?: (at: FetchProgress) => void;
  /** Takes lines about a server: what it does, and why nothing happens. Default: what each engine has. */
  readonly say?: (line: string) => void;
  /** Ends replies under way of a model behind an API. */
  readonly stop?: AbortSignal;
  /** Of a model of this process that only answers: bytes for what is known of earlier prompts. Its adapter is merged in. */
  readonly serves?: { readonly prefixCache: number };
}

/** Loaded when needed: commands that do not train start without an engine. */
export async function makeEngine(
  name: EngineName,
  options: EngineOptions = {},
  { progress = () => {}, say, stop, serves }: EngineSurroundings = {},
): Promise<Engine> {
  const { model, size, lora, toolsInText, device = deviceByDefault(), precision, threads, memory } = options;
  const stated = Object.entries(options).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  const known: readonly string[] = optionsOf[name];
  const surplus = stated.find((option) => !known.includes(option));
  if (surplus !== undefined) throw notFor(name, surplus);
  if (name === "tabular") return (await import("../engine/tabular/engine.ts")).tabularEngine();
  if (name === "chat") return await configuredChatEngine(options, say ?? (() => {}), stop);
  if (name === "tinker") {
    if (typeof lora === "object") throw notFor(name, "lora");
    return await serverEngine(options, lora, say);
  }
  if (model !== undefined && size !== undefined) {
    throw new WhetstoneError("config.invalid", {
      where: "size",
      got: `a shape for the checkpoint ${model}`,
      expected: "either a checkpoint, which has a shape of its own, or a shape for random weights",
      fix: "Leave one of them out.",
    });
  }
  if (toolsInText && model === undefined) {
    throw new WhetstoneError("config.invalid", {
      where: "--tools-in-text",
      got: "no --model",
      expected: "a pretrained model, whose chat template it adds to",
      fix: "Remove it: a model with random weights reads tools as text anyway.",
    });
  }
  const { localEngine } = await import("../engine/local/index.ts");
  return localEngine({
    ...(model === undefined ? {} : { from: model, hub: { progress } }),
    ...(size && { size }),
    ...(toolsInText && { templateVariables: { tools_in_text: true } }),
    ...(lora !== undefined && { lora: typeof lora === "number" ? { rank: lora } : lora }),
    ...(device && { device }),
    ...(precision && { precision }),
    ...(threads !== undefined && { threads }),
    ...(memory !== undefined && { memory: memory * 2 ** 20 }),
    ...(serves && { ...serves, merged: true }),
  } as LocalOptions);
}

/** The options of each engine. */
const optionsOf: Readonly<Record<EngineName, readonly (keyof EngineOptions)[]>> = {
  local: ["model", "size", "lora", "toolsInText", "device", "precision", "threads", "memory"],
  tabular: [],
  tinker: [...trainingServerKeys, "lora"],
  chat: chatModelKeys,
};

function notFor(name: EngineName, option: string): WhetstoneError {
  const others = engineNames.filter((other) => optionsOf[other].some((known) => known === option));
  return new WhetstoneError("option.unknown", {
    where: flagOf(option),
    got: `the ${name} engine, which ${option === "lora" && name === "tinker" ? "only takes a rank" : "does not have this option"}`,
    expected: `the ${others.join(" or the ")} engine`,
    fix: `Remove it, or use --engine ${others[0] ?? "local"}.`,
  });
}
