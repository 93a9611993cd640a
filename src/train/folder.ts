/** The folder of a run: claims it for a new run, checks it for a resumed one, cleans up after a run that did not start. */
import { existsSync } from "node:fs";
import { access, constants, readFile, rm, rmdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makeFolder, replaceFile, writeError } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { objectOf } from "../core/json.ts";
import type { RunStore } from "../store/runStore.ts";
import { isPostgresUrl, shownUrl } from "../store/where.ts";
import { type RunConfig, runConfigSchema } from "./config.ts";

const fileIn = (out: string): string => join(out, "run.json");

/**
 * The config of the run in a folder.
 * @returns undefined where no run was begun there.
 * @throws WhetstoneError `checkpoint.damaged`; `run.different` for a run of an earlier version.
 */
export async function readRunConfig(out: string): Promise<RunConfig | undefined> {
  const file = fileIn(out);
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === "object" && read !== null && "format" in read && read.format === 1)
      throw olderRun(file, out);
    return runConfigSchema.parse(read);
  } catch (e) {
    if (e instanceof WhetstoneError) throw e;
    throw new WhetstoneError("checkpoint.damaged", {
      where: file,
      got: messageOf(e).replaceAll(/\s+/g, " "),
      expected: "the config with which the run was started",
      fix: "Restore a copy of the file, or start a new run in another folder.",
      cause: e,
    });
  }
}

const olderRun = (file: string, out: string): WhetstoneError =>
  new WhetstoneError("run.different", {
    where: file,
    got: "a run of an earlier version of Whetstone",
    expected: "a run of this version",
    fix: `Start a new run in another folder; --model ${join(out, "final")} starts from its weights.`,
  });

/**
 * Makes sure that the folder is free, or holds this very run when resuming, before any work starts, and keeps the config there.
 * @returns whether the folder was made here.
 */
export async function claimFolder(out: string, config: RunConfig, resume: boolean): Promise<boolean> {
  const recorded = await readRunConfig(out).catch((e: unknown) => {
    if (resume) throw e;
    throw runExists(out);
  });
  if (recorded && !resume) throw runExists(out);
  if (!recorded && resume) {
    throw new WhetstoneError("checkpoint.missing", {
      where: "--resume",
      got: `no run in ${out}`,
      expected: "the folder of an existing run",
      fix: "Leave --resume out to start it, or name the right folder with --out.",
    });
  }
  if (recorded) {
    requireSame(fileIn(out), recorded, config);
    await access(out, constants.W_OK).catch((e: unknown) => {
      throw writeError(out, e);
    });
    if (isDeepStrictEqual(recorded, config)) return false;
  }
  const made = !existsSync(out);
  await makeFolder(out);
  await replaceFile(fileIn(out), `${JSON.stringify(config, null, 1)}\n`);
  return made;
}

const runExists = (out: string): WhetstoneError =>
  new WhetstoneError("run.exists", {
    where: "--out",
    got: `${out}, which already contains a run`,
    expected: "a new folder",
    fix: "Resume that run with --resume, or name another folder.",
  });

/** @throws WhetstoneError `run.different` where anything but what is adjustable differs. */
export function requireSame(file: string, recorded: RunConfig, wanted: RunConfig): void {
  const flat = ({ adjustable: _, parts, ...rest }: RunConfig): Readonly<Record<string, unknown>> => ({
    ...rest,
    ...(objectOf(parts) ?? { parts }),
  });
  const different = [...differences(flat(recorded), flat(wanted))];
  if (different.length === 0) return;
  throw new WhetstoneError("run.different", {
    where: "--resume",
    got: `options that differ from those in ${file}: ${different.slice(0, 4).join(", ")}${different.length > 4 ? ` and ${different.length - 4} more` : ""}`,
    expected: "the options with which the run was started",
    fix: "Resume with the original options, or choose another folder.",
  });
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The places at which two configs differ, each with both values where these are short. */
function* differences(was: unknown, is: unknown, at: readonly string[] = []): Iterable<string> {
  if (isDeepStrictEqual(was, is)) return;
  if (isRecord(was) && isRecord(is)) {
    for (const name of new Set([...Object.keys(was), ...Object.keys(is)]))
      yield* differences(was[name], is[name], [...at, name]);
    return;
  }
  const [shownWas, shownIs] = [was, is].map((x) => JSON.stringify(x) ?? "none");
  const isShort = `${shownWas}${shownIs}`.length <= 60;
  yield isShort ? `${at.join(".")} (${shownIs}, begun with ${shownWas})` : at.join(".");
}

/** Removes the traces of a run that did not start, so that it can start in the same folder with corrected options. @param made whether the run created the folder. */
export async function forgetRun(id: string, out: string, made: boolean, store: RunStore): Promise<void> {
  await store.dropRun(id).catch(() => undefined);
  for (const name of ["run.json", "journal.jsonl"])
    await rm(join(out, name), { force: true }).catch(() => undefined);
  if (made) await rmdir(out).catch(() => undefined);
}

/** A file as a run remembers it: seen from its folder, since the whole project can be moved. */
export const seenFrom = (out: string, file: string): string =>
  relative(resolve(out), resolve(file)).replaceAll("\\", "/");

/** A store as a run remembers it: as any file, and without a password, which stands in no file. */
export const rememberedStore = (out: string, store: string): string =>
  isPostgresUrl(store) ? shownUrl(store) : seenFrom(out, store);

/** Where a remembered store is. */
export const storeAt = (out: string, remembered: string): string =>
  isPostgresUrl(remembered) ? remembered : resolve(out, remembered);
