/** An artefact as a folder that people read, edit and share. Several processes may write it without overwriting each other's changes. */
import { existsSync } from "node:fs";
import { cp, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { originsIn, withoutParts, writtenBy } from "../common/artefacts/origins.ts";
import { afterReplacing, isMissing, replaceFolder, writeFlushed } from "../common/files/files.ts";
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
  /** Digest of the other files; a different digest means that they were edited by hand. */
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

/** Result of {@link readArtefactFolder}. */
export interface ReadArtefact {
  readonly version: ArtefactVersion;
  /** Whether the files were changed by hand: `version` is then a new version whose parent is the written one. */
  readonly edited: boolean;
}

/**
 * Reads an artefact folder. Files that were edited by hand give a new version whose parent is the written one.
 * @param now creation time of such a version, milliseconds since 1970.
 * @throws WhetstoneError `import.invalid` for a folder without an artefact, or files that cannot be parsed.
 */
export async function readArtefactFolder(folder: string, now = Date.now()): Promise<ReadArtefact> {
  for (let tries = 1; ; tries++) {
    const before = await textOf(folder, headFile);
    const files = before === undefined ? {} : await filesIn(folder, headOf(folder, before));
    // a folder that is being replaced is read in its old or its new state, never in a mixture
    if (before !== undefined && before === (await textOf(folder, headFile)))
      return versionOf(headOf(folder, before), files, now);
    if (before === undefined && tries >= 5) {
      if (existsSync(folder) || !existsSync(`${folder}.old`)) throw noArtefact(folder);
      // a replacement was interrupted
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
   * The expected content of the folder: the id of a version, or "nothing". Other content means that another process was faster,
   * and is an error. Default: any content is replaced.
   */
  readonly over?: Id | "nothing";
}

/**
 * Writes a version atomically, one process at a time; files that do not belong to the artefact stay.
 * @throws WhetstoneError `store.refused` if the folder holds something other than expected; `disk.write`.
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

/** Removes parts from a folder's artefact; a missing folder has none. @returns the number of removed parts. */
export async function dropParts(folder: string, goes: (origins: Origins) => boolean): Promise<number> {
  // a folder that is being replaced is missing for a moment, but its lock exists
  if (!existsSync(folder) && !existsSync(`${folder}.lock`)) return 0;
  return await holding(folder, async () => {
    await afterReplacing(folder);
    if ((await textOf(folder, headFile)) === undefined) return 0;
    const { version } = await readArtefactFolder(folder);
    const { artefact, removed } = withoutParts<Artefact>(version.artefact, goes);
    const because = goes(version.origins);
    if (removed === 0 && !because) return 0;
    const reasons = because ? { origins: writtenBy("erasure"), why: "its sources were erased" } : {};
    const erased = (version.erased ?? 0) + removed + Number(because);
    await write(folder, { ...version, ...reasons, artefact, erased });
    return removed + Number(because);
  });
}

/** The origins of a folder's artefact and of its parts; empty if there is no such folder. */
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

/** Files that people put beside the artefact, such as notes, which must not be deleted. */
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
      "the content that whetstone wrote",
      "Undo the change; edit texts in the other files.",
    );
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    throw invalid(join(basename(folder), headFile), messageOf(e), "JSON", "Undo the change to this file.");
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

/** The file's text; nothing if the file does not exist. */
async function textOf(folder: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, name), "utf8");
  } catch (e) {
    if (isMissing(e)) return undefined;
    throw e;
  }
}

const overtaken = (folder: string, got: Id, expected: Id, edited: boolean): WhetstoneError =>
  new WhetstoneError("store.refused", {
    where: folder,
    got:
      got === "nothing" ? "no artefact in the folder any more" : `${got}${edited ? ", edited by hand" : ""}`,
    expected:
      expected === "nothing" ? "no artefact in the folder" : `${expected}, the parent of the new version`,
    fix: "Read the folder again and repeat the change, so that no edit is lost.",
  });
