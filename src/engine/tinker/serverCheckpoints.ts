/** Checkpoints on a server, whose paths are stored in local files. */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import type { Transport } from "./transport.ts";

/** File name in the folder of a saved model. */
export const savedFile = "tinker.json";

const named = z.object({ path: z.string() });

/** The server paths in the saved models anywhere in a folder. */
export async function heldBy(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true }).catch(() => []);
  const files = all.filter((name) => basename(name) === savedFile);
  const paths = await Promise.all(files.map((name) => pathIn(join(folder, name))));
  return paths.flatMap((path) => path ?? []);
}

async function pathIn(file: string): Promise<string | undefined> {
  try {
    return named.parse(JSON.parse(await readFile(file, "utf8"))).path;
  } catch {
    return undefined; // there is no path before the first step
  }
}

/** Parts of `tinker://<model>/weights/<name>`. Without a kind, as in SkyRL, the weights are for sampling. */
export const partsOf = (path: string) => {
  const [, model = "", kind = "sampler_weights", name = ""] =
    /^tinker:\/\/([^/]+)\/(?:(\w+)\/)?([^/]+)$/.exec(path) ?? [];
  return { model, kind, name };
};

/** Deletes a checkpoint. Errors are ignored: a leftover does no harm if the server is down or cannot delete it. */
export async function letGo(over: Transport, path: string): Promise<void> {
  const { model, kind, name } = partsOf(path);
  if (name === "") return;
  const at = `training_runs/${model}/checkpoints/${kind}/${name}`;
  await over.once(at, undefined, {}, "DELETE").catch(() => undefined);
}
