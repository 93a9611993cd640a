/** Checkpoints: whole folders, written aside, flushed and renamed, so that the last one is always intact. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, removeFolder, replaceFolder, writeFlushed } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { fromExactJson, toExactJson } from "../core/json.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { ModelId } from "../core/types.ts";
import type { Engine } from "../engine/engine.ts";
import { type RunState, stateSchema } from "./state.ts";

/** Whatever of a run has weights. */
export interface Weighted {
  readonly models: ReadonlyMap<ModelId, Model>;
  readonly frozen: ReadonlyMap<string, Frozen>;
}

/** How many checkpoints are kept. */
const kept = 2;

const folderOf = (out: string): string => join(out, "checkpoints");
export const bestFolder = (out: string): string => join(out, "best");
/** Weights of one iteration that no later one replaces. */
export const keptFolder = (out: string, iteration: number): string =>
  join(out, "kept", String(iteration).padStart(8, "0"));
export const finalFolder = (out: string): string => join(out, "final");

async function namesIn(out: string): Promise<string[]> {
  const names = await readdir(folderOf(out)).catch(() => []);
  return names.filter((n) => /^\d{8}$/.test(n)).sort();
}

/** Saves, then lets the engine release server-side weights that no saved model of the run refers to any more. */
export async function lettingGo<T>(
  { remoteState }: Pick<Engine, "remoteState">,
  out: string,
  save: () => Promise<T>,
): Promise<T> {
  const before = (await remoteState?.heldBy(out)) ?? [];
  const done = await save();
  const still = new Set(await remoteState?.heldBy(out));
  await remoteState?.letGo(before.filter((one) => !still.has(one)));
  return done;
}

/** Writes the next checkpoint and removes old ones. @returns its folder. */
export async function saveCheckpoint(
  out: string,
  state: RunState,
  { models, frozen }: Weighted,
): Promise<string> {
  await makeFolder(folderOf(out));
  const names = await namesIn(out);
  const next = String(Number(names.at(-1) ?? "0") + 1).padStart(8, "0");
  const folder = join(folderOf(out), next);
  await replaceFolder(folder, async (aside) => {
    for (const [kind, all] of [
      ["models", models],
      ["frozen", frozen],
    ] as const) {
      for (const [id, model] of all) {
        const to = join(aside, kind, id);
        await makeFolder(to);
        await model.save(to);
      }
    }
    await writeFlushed(join(aside, "state.json"), `${toExactJson(state)}\n`);
  });
  for (const old of [...names, next].slice(0, -kept)) {
    await removeFolder(join(folderOf(out), old));
  }
  return folder;
}

/** Writes one model's weights under a fixed name, e.g. the best so far. */
export async function saveModel(folder: string, model: Model): Promise<void> {
  await replaceFolder(folder, (aside) => model.save(aside));
}

/** The last checkpoint, or undefined when the run never got so far. */
export async function findCheckpoint(
  out: string,
): Promise<{ readonly folder: string; readonly state: RunState } | undefined> {
  const last = (await namesIn(out)).at(-1);
  if (last === undefined) return undefined;
  const folder = join(folderOf(out), last);
  return { folder, state: await checkpointState(folder) };
}

/** What a checkpoint remembers beside its weights. @throws WhetstoneError `checkpoint.damaged`. */
export async function checkpointState(folder: string): Promise<RunState> {
  const file = join(folder, "state.json");
  try {
    return stateSchema.parse(fromExactJson(await readFile(file, "utf8")));
  } catch (e) {
    throw new WhetstoneError("checkpoint.damaged", {
      where: file,
      got: messageOf(e).split("\n")[0] ?? "other contents",
      expected: "the state of a run",
      fix: `Delete ${folder} to go on from the checkpoint before it.`,
      cause: e,
    });
  }
}
