/** Every version of every artefact, with what it came from, why, and what it did to success. */
import { type Kysely, sql } from "kysely";
import { originsIn, withoutParts } from "../common/artefacts/origins.ts";
import type { Artefact, ArtefactMeasure, ArtefactVersion, Origins } from "../core/artefact.ts";
import type { Id } from "../core/types.ts";
import { dropParts, originsInFolder } from "./artefactFolder.ts";
import type { Database } from "./database.ts";
import { heldFor, requireNoneErased, secretOf, sourcesOf } from "./erased.ts";
import { addRecord, keepRecord, readRecord, readRecords } from "./records.ts";
import type { Tables } from "./schema.ts";

/** A version without its content, as it stands in a lineage. */
export interface ArtefactSummary extends Omit<ArtefactVersion, "artefact"> {
  readonly kind: Artefact["kind"];
  /** Lessons, cases, examples or rubrics. */
  readonly parts: number;
  /** Length of its content as JSON. */
  readonly characters: number;
}

/** A folder that an artefact was written to: erased with the rest. */
export interface ArtefactFolder {
  /** The folder, absolute. */
  readonly id: string;
}

export interface ArtefactStore {
  /**
   * Adds a version; of equal content the first one stays as it was.
   * @returns whether it is new. @throws WhetstoneError `store.erased` where a part was made from what has been erased.
   */
  add(version: ArtefactVersion): Promise<boolean>;
  get(id: Id): Promise<ArtefactVersion | undefined>;
  /** Oldest first, without their contents. */
  list(): Promise<readonly ArtefactSummary[]>;
  /** Notes it, or replaces the one with its id: a run that went on measured again. */
  measure(measure: ArtefactMeasure): Promise<void>;
  /** Oldest first. */
  measures(): Promise<readonly ArtefactMeasure[]>;
  /** Notes a folder that holds one, so that erasing reaches it. */
  addFolder(folder: string): Promise<void>;
}

/** Versions are two records each, so that a lineage is read without its contents. */
const [content, lineage, measured, folders] = ["artefact", "lineage", "measure", "artefactFolder"] as const;

interface Content {
  readonly id: Id;
  readonly artefact: Artefact;
}

/** @param guarded puts what a database throws into our words. */
export function artefactsOn(
  database: Pick<Database, "db" | "kind">,
  guarded: <T>(work: () => Promise<T>) => Promise<T>,
): ArtefactStore {
  const { db } = database;
  return {
    add: (version) =>
      guarded(async () => {
        const { artefact, ...about } = version;
        const secret = await secretOf(db);
        const size = { parts: partsOf(artefact), characters: JSON.stringify(artefact).length };
        return await db.transaction().execute(async (tx) => {
          await heldFor("writing", database, tx);
          await requireNoneErased(tx, secret, () =>
            sourcesOf([version.origins, ...originsIn(artefact)]).map((one) => ({ kind: "artefact", ...one })),
          );
          // numbered by nobody else meanwhile: a transaction cannot try another number
          if (database.kind === "postgres") await sql`lock table records in exclusive mode`.execute(tx);
          await keepRecord(tx, content, { id: about.id, artefact });
          return await keepRecord(tx, lineage, { ...about, kind: artefact.kind, ...size });
        });
      }),
    get: (id) =>
      guarded(async () => {
        const known = await readRecord<ArtefactSummary>(db, lineage, id);
        const whole = known && (await readRecord<Content>(db, content, id));
        if (!known || !whole) return undefined;
        const { kind: _, parts: __, characters: ___, ...about } = known;
        return { ...about, artefact: whole.artefact };
      }),
    list: () => guarded(() => readRecords<ArtefactSummary>(db, lineage)),
    measure: (measure) => guarded(async () => void (await keepRecord(db, measured, measure))),
    measures: () => guarded(() => readRecords<ArtefactMeasure>(db, measured)),
    addFolder: (folder) => guarded(async () => void (await addRecord(db, folders, { id: folder }))),
  };
}

/** How many lessons, cases, examples or rubrics it has. */
export function partsOf(artefact: Artefact): number {
  switch (artefact.kind) {
    case "instructions":
      return artefact.examples.length;
    case "experience":
      return artefact.entries.length;
    case "cases":
      return artefact.cases.length;
    case "guide":
    case "tree":
      return 0;
    case "rubrics":
      return artefact.rubrics.length;
  }
}

/** The origins of each version and of its parts, and those of each folder's. */
export async function* originsKept(db: Kysely<Tables>): AsyncGenerator<readonly Origins[]> {
  yield* originsInTables(db);
  for (const folder of await artefactFolders(db)) yield await originsInFolder(folder);
}

async function* originsInTables(db: Kysely<Tables>): AsyncGenerator<readonly Origins[]> {
  for (const known of await readRecords<ArtefactSummary>(db, lineage)) {
    const whole = await readRecord<Content>(db, content, known.id);
    yield [known.origins, ...(whole ? originsIn(whole.artefact) : [])];
  }
}

/**
 * Takes out of all versions, and of the folders that they were written to, what was made from what goes.
 * @returns by folder how many parts went; those of the tables are counted under the store's own name, "".
 */
export async function eraseParts(
  db: Kysely<Tables>,
  goes: (origins: Origins) => boolean,
): Promise<ReadonlyMap<string, number>> {
  const removed = new Map<string, number>();
  const note = (where: string, parts: number): void => {
    if (parts > 0) removed.set(where, (removed.get(where) ?? 0) + parts);
  };
  for (const { id } of await readRecords<ArtefactFolder>(db, folders)) note(id, await dropParts(id, goes));
  for (const known of await readRecords<ArtefactSummary>(db, lineage)) {
    const whole = await readRecord<Content>(db, content, known.id);
    if (!whole) continue;
    const left = withoutParts(whole.artefact, goes);
    const because = goes(known.origins);
    if (left.removed === 0 && !because) continue;
    const { origins, why } = because ? forgotten : known;
    const { artefact } = left;
    await addRecord(db, content, { id: known.id, artefact }, "replace");
    const size = { parts: partsOf(artefact), characters: JSON.stringify(artefact).length };
    const erased = (known.erased ?? 0) + left.removed + Number(because);
    await addRecord(db, lineage, { ...known, ...size, origins, why, erased }, "replace");
    note("", left.removed + Number(because));
  }
  return removed;
}

/** What is left of the reasons for a version, where they were somebody's. */
const forgotten: Pick<ArtefactVersion, "origins" | "why"> = {
  origins: { by: "erasure", from: { sessions: [], users: [], responses: [], signals: [] }, trajectories: [] },
  why: "made from what has been erased since",
};

/** How many versions still name something. */
export async function countNaming(db: Kysely<Tables>, names: ReadonlySet<string>): Promise<number> {
  const naming = ({ from }: Origins): boolean =>
    [from.sessions, from.users, from.responses, from.signals].some((ids) => ids.some((id) => names.has(id)));
  let found = 0;
  for await (const origins of originsInTables(db)) if (origins.some(naming)) found++;
  return found;
}

/** Folders that hold artefacts. */
export const artefactFolders = async (db: Kysely<Tables>): Promise<readonly string[]> =>
  (await readRecords<ArtefactFolder>(db, folders)).map(({ id }) => id);
