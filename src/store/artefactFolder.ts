/** One artefact as a folder that people read, edit and share; several processes may write it, and none undoes another's work. */
import { existsSync } from "node:fs";
import { cp, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { originsIn, withoutParts, writtenBy } from "../common/artefacts/origins.ts";
import { afterReplacing, replaceFolder, writeFlushed } from "../common/files/files.ts";
import {
  type Artefact,
  type ArtefactVersion,
  artefactId,
  artefactKinds,
  artefactVersion,
  type Origins,
} from "../core/artefact.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Id } from "../core/types.ts";
import {
  type ArtefactFiles,
  artefactFileNames,
  invalid,
  originsSchema,
  readArtefactFiles,
  writeArtefactFiles,
} from "./artefactText.ts";
import { holding } from "./folderLock.ts";

const headSchema = z.strictObject({
  format: z.literal(1),
  kind: z.enum(artefactKinds),
  id: z.string(),
  /** Digest of what the other files say: where it differs, somebody edited them. */
  content: z.string(),
  name: z.string(),
  parents: z.array(z.string()),
  why: z.string(),
  origins: originsSchema,
  created: z.number(),
  erased: z.number().optional(),
});
type Head = z.output<typeof headSchema>;

const headFile = "artefact.json";

export interface ReadArtefact {
  readonly version: ArtefactVersion;
  /** The files were changed since they were written: the version is a new one, made from that which was written. */
  readonly edited: boolean;
}

/**
 * What a folder says. Files that were edited by hand are a version of their own, whose parent is the one that was written.
 * @param now milliseconds since 1970, for such a version.
 * @throws WhetstoneError `import.invalid` for a folder without an artefact, or files that do not read as one.
 */
export async function readArtefactFolder(folder: string, now = Date.now()): Promise<ReadArtefact> {
  for (let tries = 1; ; tries++) {
    const before = await textOf(folder, headFile);
    const files = before === undefined ? {} : await filesIn(folder, headOf(folder, before));
    // of a folder that is being written, one of two states: never some of each
    if (before !== undefined && before === (await textOf(folder, headFile)))
      return versionOf(headOf(folder, before), files, now);
    if (before === undefined && tries >= 5) {
      if (existsSync(folder) || !existsSync(`${folder}.old`)) throw noArtefact(folder);
      // whoever replaced it did not come to the end
      await holding(folder, () => afterReplacing(folder));
      tries = 0;
    }
    await pause(2 ** tries);
  }
}

const noArtefact = (folder: string): WhetstoneError =>
  invalid(
    folder,
    `no ${headFile} in it`,
    "the folder of an artefact",
    "Check the path; whetstone artefacts export writes such a folder.",
  );

/** Settings of {@link writeArtefactFolder}. */
export interface WriteArtefact {
  /**
   * What the folder is expected to hold: the id of a version, or nothing yet. Where it holds something else, somebody was
   * faster. Default: whatever it holds is replaced.
   */
  readonly over?: Id | "nothing";
}

/**
 * Writes a version whole or not at all, one process at a time; files that are none of an artefact's stay.
 * @throws WhetstoneError `store.refused` where the folder holds something else than was expected; `disk.write`.
 */
export async function writeArtefactFolder(
  folder: string,
  version: ArtefactVersion,
  { over }: WriteArtefact = {},
): Promise<void> {
  await holding(folder, async () => {
    await afterReplacing(folder);
    if (over !== undefined) {
      const there =
        (await textOf(folder, headFile)) === undefined ? undefined : await readArtefactFolder(folder);
      const id = there?.version.id ?? "nothing";
      if (id !== over) throw overtaken(folder, id, over, there?.edited === true);
    }
    await write(folder, version);
  });
}

/** Takes parts out of a folder's artefact; a folder that is gone is none. @returns how many went. */
export async function dropParts(folder: string, goes: (origins: Origins) => boolean): Promise<number> {
  // a folder that is being replaced is not there for a moment, and its lock is
  if (!existsSync(folder) && !existsSync(`${folder}.lock`)) return 0;
  return await holding(folder, async () => {
    await afterReplacing(folder);
    if ((await textOf(folder, headFile)) === undefined) return 0;
    const { version } = await readArtefactFolder(folder);
    const { artefact, removed } = withoutParts<Artefact>(version.artefact, goes);
    const because = goes(version.origins);
    if (removed === 0 && !because) return 0;
    const reasons = because
      ? { origins: writtenBy("erasure"), why: "made from what has been erased since" }
      : {};
    const erased = (version.erased ?? 0) + removed + Number(because);
    await write(folder, { ...version, ...reasons, artefact, erased });
    return removed + Number(because);
  });
}

/** What the artefact of a folder and its parts were made from; none where there is no such folder. */
export async function originsInFolder(folder: string): Promise<readonly Origins[]> {
  if ((await textOf(folder, headFile)) === undefined) return [];
  const { version } = await readArtefactFolder(folder);
  return [version.origins, ...originsIn(version.artefact)];
}

async function write(folder: string, version: ArtefactVersion): Promise<void> {
  const { artefact, ...about } = version;
  const files = writeArtefactFiles(artefact);
  const content = artefactId(readArtefactFiles(artefact.kind, files));
  const head = { format: 1, kind: artefact.kind, content, ...about };
  await replaceFolder(folder, async (aside) => {
    for (const name of await strangersIn(folder))
      await cp(join(folder, name), join(aside, name), { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFlushed(join(aside, name), text);
    await writeFlushed(join(aside, headFile), `${JSON.stringify(head, null, 2)}\n`);
  });
}

/** What somebody put there beside the artefact, such as notes on it: none of ours to delete. */
async function strangersIn(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const ours = new Set([headFile, ...Object.values(artefactFileNames).flat()]);
  return (await readdir(folder)).filter((name) => !ours.has(name));
}

function versionOf(head: Head, files: ArtefactFiles, now: number): ReadArtefact {
  const { format: _, kind, content, id, erased, ...about } = head;
  const artefact = readArtefactFiles(kind, files);
  if (artefactId(artefact) === content)
    return {
      version: { id, artefact, ...about, ...(erased === undefined ? {} : { erased }) },
      edited: false,
    };
  const { name } = about;
  return {
    version: artefactVersion({
      name,
      artefact,
      parents: [id],
      why: "edited by hand",
      origins: writtenBy("person"),
      created: now,
    }),
    edited: true,
  };
}

function headOf(folder: string, text: string): Head {
  try {
    const head = headSchema.safeParse(JSON.parse(text));
    if (head.success) return head.data;
    const [issue] = head.error.issues;
    throw invalid(
      join(basename(folder), headFile),
      `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "another form"}`,
      "what whetstone wrote there",
      "Undo the change: texts are in the other files.",
    );
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    throw invalid(join(basename(folder), headFile), messageOf(e), "JSON", "Undo the change to it.");
  }
}

async function filesIn(folder: string, { kind }: Head): Promise<ArtefactFiles> {
  const files: Record<string, string> = {};
  for (const name of artefactFileNames[kind]) {
    const text = await textOf(folder, name);
    if (text !== undefined) files[name] = text;
  }
  return files;
}

/** Nothing where the file is not there. */
async function textOf(folder: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, name), "utf8");
  } catch (e) {
    if (e instanceof Error && "code" in e && (e.code === "ENOENT" || e.code === "ENOTDIR")) return undefined;
    throw e;
  }
}

const overtaken = (folder: string, got: Id, expected: Id, edited: boolean): WhetstoneError =>
  new WhetstoneError("store.refused", {
    where: folder,
    got:
      got === "nothing"
        ? "nothing there any more"
        : `${got}${edited ? ", which somebody edited by hand" : ""}`,
    expected:
      expected === "nothing" ? "no artefact there yet" : `${expected}, from which the new one was made`,
    mend: "Read it again and make the change anew, so that nobody's work is lost.",
  });
