/** Base models of the server, and the engines of the models derived from them. */
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { WhetstoneError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import type { Engine } from "../../engine/engine.ts";
import { readModel } from "../../engine/local/checkpoint.ts";
import type { FetchOptions } from "../../engine/local/hub.ts";
import { type ComputeOptions, localEngine } from "../../engine/local/index.ts";
import { folderOf } from "../../engine/local/locate.ts";
import type { Projection } from "../../engine/local/parameters.ts";

/** An adapter as a client asks for it. */
export interface Adapter {
  readonly rank: number;
  readonly mlp: boolean;
  readonly attention: boolean;
}

export interface Base {
  readonly name: string;
  /** Folder of the base model, with its tokenizer. */
  readonly folder: string;
  readonly contextTokens: number;
  readonly vocabulary: number;
  /** A new model: an adapter on the base, or, without one, all of the base's weights. */
  create(seed: number, adapter?: Adapter): Promise<Model>;
  /** Opens a saved model. */
  open(folder: string): Promise<Model>;
  dispose(): Promise<void>;
}

export interface BaseOptions extends Pick<ComputeOptions, "device" | "threads" | "memory"> {
  /** Longest sequence, in tokens; limited by the model's own maximum. Default 4096. */
  readonly contextTokens?: number;
  readonly hub?: FetchOptions;
}

/** LoRA alpha of the official service, for every rank. */
const alpha = 32;
const attention: readonly Projection[] = ["q_proj", "k_proj", "v_proj", "o_proj"];
const mlp: readonly Projection[] = ["gate_proj", "up_proj", "down_proj"];

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (s) => s.isDirectory(),
    () => false,
  );

/**
 * Opens a base model.
 * @param from a folder, whose last path segment is the model's name, or an id on the Hugging Face Hub.
 * @throws WhetstoneError the errors of `readModel` and `folderOf`.
 */
export async function openBase(from: string, options: BaseOptions = {}): Promise<Base> {
  const { contextTokens: most = 4096, hub, ...run } = options;
  const local = await isFolder(from);
  const folder = resolve(await folderOf({ from, ...(hub && { hub }) }));
  const { config } = await readModel(folder);
  const contextTokens = Math.min(most, config.contextTokens);
  // one engine per kind of adapter: models of one kind share its compiled programs
  const engines = new Map<string, Engine>();
  const engineFor = (adapter?: Adapter): Engine => {
    const key = JSON.stringify(adapter ?? null);
    const targets = [...(adapter?.attention ? attention : []), ...(adapter?.mlp ? mlp : [])];
    const engine =
      engines.get(key) ??
      localEngine({ ...run, from: folder, ...(adapter && { lora: { rank: adapter.rank, alpha, targets } }) });
    engines.set(key, engine);
    return engine;
  };
  return {
    name: local ? basename(folder) : from,
    folder,
    contextTokens,
    vocabulary: config.vocabulary,
    // a constant id, so that a seed gives the same initial weights for every model
    create: (seed, adapter) =>
      engineFor(adapter).create({ id: "policy", seed, vocabulary: [], contextTokens }),
    open: (saved) => engineFor().open("policy", saved),
    async dispose() {
      for (const engine of engines.values()) await engine.dispose();
    },
  };
}

/** Creates a folder with a tiny byte-level model of random weights, for trying out a client. */
export async function tinyBase(root: string): Promise<string> {
  const folder = join(root, "bases", "tiny");
  if (await isFolder(folder)) return folder;
  const engine = localEngine({ tokenizer: "bytes" });
  try {
    const model = await engine.create({ id: "tiny", seed: 1, vocabulary: [], contextTokens: 1024 });
    const half = `${folder}.half`; // written aside and renamed, so that a crash or full disk leaves no incomplete folder
    await rm(half, { recursive: true, force: true });
    await mkdir(half, { recursive: true });
    await model.save(half);
    await rename(half, folder);
    return folder;
  } finally {
    await engine.dispose();
  }
}

/** @throws WhetstoneError `config.invalid` for two models with one name. */
export function byName(bases: readonly Base[]): ReadonlyMap<string, Base> {
  const known = new Map<string, Base>();
  for (const base of bases) {
    const other = known.get(base.name);
    if (other) {
      throw new WhetstoneError("config.invalid", {
        where: "--model",
        got: `${other.folder} and ${base.folder}, both called ${base.name}`,
        expected: "models with different names, since clients choose by name",
        fix: "Rename one of the folders.",
      });
    }
    known.set(base.name, base);
  }
  return known;
}
