/** The adapter of a checkpoint, out of the archive that a server hands out: PEFT's files, in a tar that may be packed. */
import { createWriteStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract } from "tar";
import { z } from "zod";
import { letGo, partsOf } from "./elsewhere.ts";
import { openSession } from "./session.ts";
import { openTrainer } from "./trainer.ts";
import { failed, type Transport, type TransportOptions } from "./transport.ts";

/** What a checkpoint is, beside its path: a server opens it in a model like the one that it was saved from. */
export interface HeldWeights {
  /** `tinker://<model>/weights/<name>`. */
  readonly path: string;
  readonly baseModel: string;
  readonly rank: number;
  readonly seed: number;
}

const wanted: ReadonlySet<string> = new Set(["adapter_config.json", "adapter_model.safetensors"]);
const told = z.object({ url: z.url() });

/**
 * Servers archive weights to sample from alone, so the checkpoint is opened and saved as such; what was made for that is let go.
 * @param into gets the files. @returns the folder in it that they are in.
 * @throws WhetstoneError `engine.failed`.
 */
export async function downloadAdapter(
  over: Transport,
  options: Pick<TransportOptions, "url" | "key">,
  { path, ...of }: HeldWeights,
  into: string,
): Promise<string> {
  const session = await openSession(over, of.baseModel);
  let made = "";
  try {
    const trainer = await openTrainer(session, of);
    await trainer.load(path, false);
    made = await trainer.saveForSampler(`whetstone-export-${Date.now()}`);
    const archive = join(into, "archive");
    await pipeline(Readable.fromWeb(await archiveOf(made, options)), createWriteStream(archive));
    await extract({ file: archive, cwd: into, filter: (name) => wanted.has(basename(name)) });
    const found = await readdir(into, { recursive: true });
    const config = found.find((name) => basename(name) === "adapter_config.json");
    if (config !== undefined) return dirname(join(into, config));
    throw unfit(made, "an archive without an adapter_config.json");
  } finally {
    if (made !== "") await letGo(over, made);
    await session.close();
  }
}

/** Some servers name a checkpoint with its kind, some without; they answer with the address of the archive, or send on to it. */
async function archiveOf(path: string, { url, key }: Pick<TransportOptions, "url" | "key">) {
  const { model, kind, name } = partsOf(path);
  const own = new URL(url);
  const ask = (at: URL) =>
    fetch(at, {
      redirect: "manual",
      // the key is for the server, and not for a store that it names
      headers: key !== undefined && at.origin === own.origin ? { "X-API-Key": key } : {},
    });
  let last = "";
  for (const checkpoint of [`${kind}/${name}`, name]) {
    const at = new URL(`/api/v1/training_runs/${model}/checkpoints/${checkpoint}/archive`, own);
    const answer = await ask(at);
    last = `status ${answer.status}`;
    const location = answer.headers.get("Location");
    const address = answer.ok
      ? told.safeParse(await answer.json().catch(() => undefined)).data?.url
      : location;
    if (!address) continue;
    const archive = new URL(address, at);
    if (!/^https?:$/.test(archive.protocol)) throw unfit(path, `an archive at ${address}, on its own disk`);
    const { ok, status, body } = await ask(archive);
    if (ok && body) return body;
    last = `status ${status} at ${archive.origin}`;
  }
  throw unfit(path, `no archive: ${last}`);
}

const unfit = (where: string, got: string) =>
  failed(where, got, "Download the checkpoint with the server's own tools.");
