/**
 * Checkpoints from the Hugging Face Hub, through the cache that all of its tools share: `models--owner--name` with
 * `blobs`, `refs` and `snapshots`. Files that are already there, from whatever tool, are not downloaded again.
 *
 * The tests run the real client over HTTP against a small server with the Hub's routes; nothing here has been run
 * against the Hub itself yet. Large files are downloaded over plain HTTP, not with the Hub's chunk protocol (Xet).
 */
import { createWriteStream } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { writeError } from "../../common/files/files.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import { companions, files } from "./folder.ts";

export interface FetchProgress {
  readonly file: string;
  /** Bytes of all files so far, including those of earlier attempts. */
  readonly bytes: number;
  readonly ofBytes: number;
}

export interface FetchOptions {
  /** A branch, tag or commit. Default "main". */
  readonly revision?: string;
  /** Default: `HF_TOKEN`, or the one that `hf auth login` stored. */
  readonly token?: string;
  /** The cache's folder. Default: `HF_HUB_CACHE`, or `hub` in `HF_HOME`. */
  readonly cache?: string;
  readonly progress?: (at: FetchProgress) => void;
  /** Environment variables. Default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Whether a text can be a model id on the Hub: `owner/name`, or the bare name of the oldest models. */
export const isHubId = (id: string): boolean =>
  /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)?$/.test(id) && !id.includes("..") && !id.includes("--");

/** The Hub's address, cache and token, read from the environment as all of its tools do. */
interface Place {
  readonly url: string;
  readonly cache: string;
  readonly offline: boolean;
  readonly token: string | undefined;
}

const isOn = (value: string | undefined): boolean => /^(1|true|yes|on)$/i.test(value ?? "");

async function placeOf(options: FetchOptions): Promise<Place> {
  const env = options.environment ?? process.env;
  const home = env.HF_HOME ?? join(env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "huggingface");
  const stored = await readFile(env.HF_TOKEN_PATH ?? join(home, "token"), "utf8").catch(() => "");
  const token = (options.token ?? env.HF_TOKEN ?? stored).trim();
  return {
    url: (env.HF_ENDPOINT ?? "https://huggingface.co").replace(/\/+$/, ""),
    cache: options.cache ?? env.HF_HUB_CACHE ?? env.HUGGINGFACE_HUB_CACHE ?? join(home, "hub"),
    offline: isOn(env.HF_HUB_OFFLINE) || isOn(env.TRANSFORMERS_OFFLINE),
    token: token === "" ? undefined : token,
  };
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const shardIndex = z.object({ weight_map: z.record(z.string(), z.string()) });

/** The files that a shard index names; none without an index. */
async function shardsOf(snapshot: string): Promise<string[]> {
  const path = join(snapshot, files.weightIndex);
  if (!(await exists(path))) return [];
  try {
    const { weight_map } = shardIndex.parse(JSON.parse(await readFile(path, "utf8")));
    return [...new Set(Object.values(weight_map))];
  } catch (e) {
    throw new WhetstoneError("checkpoint.damaged", {
      where: path,
      got: messageOf(e),
      expected: "a readable shard index",
      fix: "Remove the model's folder from the cache and fetch it again.",
    });
  }
}

/** The cached snapshot of a revision, if it is complete. */
async function cachedSnapshot(storage: string, revision: string): Promise<string | undefined> {
  const commit = await readFile(join(storage, "refs", revision), "utf8").catch(() => revision);
  const snapshot = join(storage, "snapshots", commit.trim());
  const weights = (await exists(join(snapshot, files.weights))) ? [files.weights] : await shardsOf(snapshot);
  if (weights.length === 0) return undefined;
  for (const name of [files.config, files.tokenizer, ...weights]) {
    if (!(await exists(join(snapshot, name)))) return undefined;
  }
  return snapshot;
}

type Hub = typeof import("@huggingface/hub");

async function loadHub(): Promise<Hub> {
  try {
    return await import("@huggingface/hub");
  } catch (e) {
    throw new WhetstoneError("package.missing", {
      where: "@huggingface/hub",
      got: messageOf(e),
      expected: "the Hub's client, which is installed only where it is used",
      fix: "Run `npm install @huggingface/hub`, or name a folder instead.",
      cause: e,
    });
  }
}

/** Whether an error comes from the disk, not the connection. */
const systemCode = (e: unknown): boolean =>
  ["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"].includes(
    z.object({ code: z.string() }).safeParse(e).data?.code ?? "",
  );

const withStatus = z.object({ statusCode: z.int() });

/** Turns a failed call to the Hub into an error for the user. */
function hubError(id: string, revision: string, place: Place, e: unknown): WhetstoneError {
  if (e instanceof WhetstoneError) return e;
  const status = withStatus.safeParse(e).data?.statusCode;
  const where = `${id} at ${revision}`;
  if (status === 404) {
    return new WhetstoneError("hub.notFound", {
      where,
      got: `no such model or revision on ${place.url}`,
      expected: "the id of a model, as owner/name",
      fix: "Check the spelling; for a private model set HF_TOKEN.",
      cause: e,
    });
  }
  if (status === 401 || status === 403) {
    return new WhetstoneError("hub.denied", {
      where,
      got: place.token ? "a token that has no access" : "no token",
      expected: "access to a gated, private or misspelled model",
      fix: `Accept the model's terms on ${place.url}/${id} and set HF_TOKEN to a token of that account, or check the spelling.`,
      cause: e,
    });
  }
  if (systemCode(e)) return writeError(place.cache, e);
  if (e instanceof TypeError && e.message.includes("access token")) {
    return new WhetstoneError("hub.denied", {
      where,
      got: messageOf(e),
      expected: "a token of the Hub, or none",
      fix: "Set HF_TOKEN to a token that begins with hf_, or unset it.",
      cause: e,
    });
  }
  const cause = e instanceof Error && e.cause !== undefined ? `: ${messageOf(e.cause)}` : "";
  return new WhetstoneError("hub.unreachable", {
    where,
    got: `${messageOf(e)}${cause}`,
    expected: `an answer from ${place.url}`,
    fix: "Check the connection and run again; finished downloads are kept. If you are offline, name a folder.",
    cause: e,
  });
}

/** Matches weights under the names that transformers uses, not copies in other formats beside them. */
const isWeights = (path: string): boolean => /^model(-\d+-of-\d+)?\.safetensors$/.test(path);

interface Wanted {
  readonly path: string;
  readonly size: number;
  /** File name of its contents in the cache. */
  readonly blob: string;
}

/** Links a snapshot's file name to its contents, or copies them where links are not possible. */
async function link(blob: string, name: string): Promise<void> {
  await rm(name, { force: true });
  await symlink(relative(dirname(name), blob), name).catch(() => copyFile(blob, name));
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (s) => s.size,
    () => 0,
  );
}

/** Downloads a file that is not in the cache, and resumes an earlier partial download. */
async function fetchBlob(
  hub: Hub,
  call: { readonly id: string; readonly commit: string; readonly place: Place },
  wanted: Wanted,
  blob: string,
  seen: (bytes: number) => void,
): Promise<void> {
  const { id, commit, place } = call;
  const part = `${blob}.incomplete`;
  let from = await sizeOf(part);
  if (from > wanted.size) {
    await rm(part, { force: true });
    from = 0;
  }
  seen(from);
  if (from < wanted.size) {
    const remote = await hub.downloadFile({
      repo: id,
      path: wanted.path,
      revision: commit,
      hubUrl: place.url,
      xet: false,
      ...(place.token === undefined ? {} : { accessToken: place.token }),
    });
    if (!remote) throw new Error(`no file ${wanted.path}`);
    const counted = new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        seen(chunk.length);
        done(null, chunk);
      },
    });
    // writes at an offset instead of appending: another process with the same file writes the same bytes to the same offsets
    const out = createWriteStream(part, from > 0 ? { flags: "r+", start: from } : { flags: "w" });
    const rest = from > 0 ? remote.slice(from, wanted.size) : remote;
    // the stream is Node's own; where a page's types are loaded too, the compiler takes it for a page's
    const stream = rest.stream() as Parameters<typeof Readable.fromWeb>[0];
    await pipeline(Readable.fromWeb(stream), counted, out);
  } else if (wanted.size === 0) {
    await writeFile(part, "");
  }
  const size = await sizeOf(part);
  if (size !== wanted.size) {
    // too long means that the server sent the whole file instead of the rest
    if (size > wanted.size) await rm(part, { force: true });
    throw new Error(`${size} bytes of ${wanted.path}, which has ${wanted.size}`);
  }
  await rename(part, blob);
}

async function fetchSnapshot(
  id: string,
  revision: string,
  place: Place,
  options: FetchOptions,
): Promise<string> {
  const hub = await loadHub();
  const credentials = place.token === undefined ? {} : { accessToken: place.token };
  const { sha: commit } = await hub.modelInfo({
    name: id,
    revision,
    hubUrl: place.url,
    additionalFields: ["sha"],
    ...credentials,
  });
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error(`${JSON.stringify(commit)} instead of a commit`);
  const storage = join(place.cache, `models--${id.replaceAll("/", "--")}`);
  const snapshot = join(storage, "snapshots", commit);
  const wanted: Wanted[] = [];
  for await (const entry of hub.listFiles({
    repo: id,
    revision: commit,
    hubUrl: place.url,
    ...credentials,
  })) {
    const { path, size } = entry;
    if (entry.type !== "file" || basename(path) !== path) continue;
    if (!companions.includes(path) && path !== files.weightIndex && !isWeights(path)) continue;
    const blob = entry.lfs?.oid ?? entry.oid ?? "";
    if (!/^[0-9a-f]+$/.test(blob)) throw new Error(`no name for the contents of ${path}`);
    wanted.push({ path, size, blob });
  }
  if (!wanted.some((w) => isWeights(w.path))) {
    throw new WhetstoneError("model.unsupported", {
      where: id,
      got: "a model without safetensors files",
      expected: `${files.weights}, or shards with an index`,
      fix: "Choose a checkpoint whose weights are safetensors.",
    });
  }
  const whole = wanted.some((w) => w.path === files.weights);
  const needed = wanted
    .filter((w) => !whole || w.path === files.weights || !isWeights(w.path))
    // small files first, so that a broken connection loses little
    .sort((a, b) => a.size - b.size);
  await mkdir(join(storage, "blobs"), { recursive: true });
  await mkdir(snapshot, { recursive: true });
  const ofBytes = needed.reduce((sum, w) => sum + w.size, 0);
  let bytes = 0;
  for (const file of needed) {
    const report = (more: number): void => {
      bytes += more;
      options.progress?.({ file: file.path, bytes, ofBytes });
    };
    const blob = join(storage, "blobs", file.blob);
    const name = join(snapshot, file.path);
    if (await exists(name)) report(file.size);
    else {
      if (await exists(blob)) report(file.size);
      else await fetchBlob(hub, { id, commit, place }, file, blob, report);
      await link(blob, name);
    }
  }
  if (revision !== commit) {
    const ref = join(storage, "refs", revision);
    await mkdir(dirname(ref), { recursive: true });
    await writeFile(ref, commit);
  }
  return snapshot;
}

/**
 * A model's folder with config, safetensors, tokenizer and chat template, downloaded unless the cache is complete.
 * Without a connection or the client, or with HF_HUB_OFFLINE=1, the cached files of the revision are used.
 * @param id as `owner/name`.
 * @throws WhetstoneError `hub.notFound`, `hub.denied`, `hub.unreachable`, `package.missing`.
 */
export async function fetchModel(id: string, options: FetchOptions = {}): Promise<string> {
  const revision = options.revision ?? "main";
  if (!isHubId(id) || !/^[\w.-]+(\/[\w.-]+)*$/.test(revision) || revision.includes("..")) {
    throw new WhetstoneError("hub.notFound", {
      where: `${id} at ${revision}`,
      got: "an invalid model id or revision",
      expected: "an id as owner/name, and a branch, tag or commit",
      fix: "Copy the id from the model's page.",
    });
  }
  const place = await placeOf(options);
  const cached = (): Promise<string | undefined> =>
    cachedSnapshot(join(place.cache, `models--${id.replaceAll("/", "--")}`), revision);
  if (place.offline) {
    const found = await cached();
    if (found) return found;
    throw new WhetstoneError("hub.unreachable", {
      where: `${id} at ${revision}`,
      got: "HF_HUB_OFFLINE=1 and an incomplete cache",
      expected: "a model that was downloaded before",
      fix: "Run once without HF_HUB_OFFLINE, or name a folder.",
    });
  }
  try {
    return await fetchSnapshot(id, revision, place, options);
  } catch (e) {
    const failure = hubError(id, revision, place, e);
    const found =
      failure.code === "hub.unreachable" || failure.code === "package.missing" ? await cached() : undefined;
    if (found) return found;
    throw failure;
  }
}
