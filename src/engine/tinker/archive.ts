/** A checkpoint's adapter, from the archive that a server provides: PEFT's files in a tar, possibly compressed. */
import { createWriteStream, existsSync } from "node:fs";
import { copyFile, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { extract } from "tar";
import { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import { letGo, partsOf } from "./serverCheckpoints.ts";
import { openSession } from "./session.ts";
import { openTrainer } from "./trainer.ts";
import { baseOf, failed, type Transport, type TransportOptions } from "./transport.ts";

/** A checkpoint's path and the settings of its model, which a server needs to open it. */
export interface HeldWeights {
  /** `tinker://<model>/weights/<name>`. */
  readonly path: string;
  readonly baseModel: string;
  readonly rank: number;
  readonly seed: number;
}

type Access = Pick<TransportOptions, "url" | "key">;

const wanted: ReadonlySet<string> = new Set(["adapter_config.json", "adapter_model.safetensors"]);
const told = z.object({ url: z.url() });

/**
 * Servers only archive weights for sampling, so the checkpoint is opened and saved as such. The temporary model and
 * weights are deleted afterwards.
 * @param into receives the files. @returns the folder in it that has them.
 * @throws WhetstoneError `engine.failed`.
 */
export async function downloadAdapter(
  over: Transport,
  options: Access,
  { path, ...of }: HeldWeights,
  into: string,
): Promise<string> {
  const session = await openSession(over, of.baseModel);
  let made = "";
  try {
    const trainer = await openTrainer(session, of);
    await trainer.load(path, false);
    made = await trainer.saveForSampler(`whetstone-export-${Date.now()}`);
    const address = await archiveOf(made, options);
    await (address.protocol === "file:" ? copied(address, into) : unpacked(address, options, into));
    const came = await readdir(into, { recursive: true });
    const config = came.find((name) => basename(name) === "adapter_config.json");
    if (config !== undefined) return dirname(join(into, config));
    throw unfit(made, `no adapter_config.json in ${address}`);
  } finally {
    if (made !== "") await letGo(over, made);
    await session.close();
  }
}

/** Paths may include the checkpoint's kind or not, depending on the server. It answers with the archive's URL, or redirects. */
async function archiveOf(path: string, access: Access): Promise<URL> {
  const { model, kind, name } = partsOf(path);
  let last = "";
  for (const checkpoint of [`${kind}/${name}`, name]) {
    const at = new URL(`${baseOf(access.url)}training_runs/${model}/checkpoints/${checkpoint}/archive`);
    const answer = await asked(at, access);
    last = `status ${answer.status}`;
    const named = answer.ok
      ? told.safeParse(await answer.json().catch(() => undefined)).data?.url
      : undefined;
    const address = named ?? answer.headers.get("Location");
    if (address) return new URL(address, at);
  }
  throw unfit(path, `no archive: ${last}`);
}

async function unpacked(address: URL, access: Access, into: string): Promise<void> {
  const { status, body } = await asked(address, access);
  if (status !== 200 || !body) throw unfit(address.origin, `status ${status} for an archive`);
  const file = join(into, "archive");
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(file));
    await extract({ file, cwd: into, filter: (name) => wanted.has(basename(name)) });
  } catch (e) {
    throw unfit(address.origin, `an archive that cannot be unpacked (${messageOf(e)})`, e);
  }
}

/** TuFT returns a folder on its own disk, which is usable only if the disk is shared with this machine. */
async function copied(address: URL, into: string): Promise<void> {
  const folder = fileURLToPath(address);
  const from = [folder, join(folder, "adapter")].find((at) => existsSync(join(at, "adapter_config.json")));
  if (from === undefined)
    throw unfit(`${address}`, "a folder on the server's own disk that does not exist on this one");
  for (const name of wanted) await copyFile(join(from, name), join(into, name));
}

/** The key is sent to the server only, not to a file store that it names. */
async function asked(at: URL, { url, key }: Access): Promise<Response> {
  const own = at.origin === new URL(url).origin;
  try {
    return await fetch(at, {
      redirect: own ? "manual" : "follow",
      headers: own && key !== undefined ? { "X-API-Key": key } : {},
    });
  } catch (e) {
    throw unfit(at.origin, `no connection (${messageOf(e)})`, e);
  }
}

/** The error for an unusable download. */
export const unfit = (where: string, got: string, cause?: unknown) =>
  failed(where, got, "Download the checkpoint with the server's own tools.", cause);
