/** Stores all versions of all artefacts, with their origins, reasons and measured success. */
import { type Kysely, sql } from "kysely";
import { originsIn, withoutParts } from "../common/artefacts/origins.ts";
import type { Artefact, ArtefactMeasure, ArtefactVersion, Origins } from "../core/artefact.ts";
import type { Id } from "../core/types.ts";
import { dropParts, originsInFolder } from "./artefactFolder.ts";
import type { Database, Guarded } from "./database.ts";
import { heldFor, requireNoneErased, secretOf, sourcesOf } from "./erased.ts";
import { addRecord, keepRecord, readRecord, readRecords } from "./records.ts";
import type { Tables } from "./schema.ts";

/** An artefact version without its content. */
export interface ArtefactSummary extends Omit<ArtefactVersion, "artefact"> {
  readonly kind: Artefact["kind"];
  /** Number of lessons, cases, examples or rubrics. */
  readonly parts: number;
  /** Length of its content as JSON. */
  readonly characters: number;
}

/** A folder that an artefact was written to; erasure covers it too. */
export interface ArtefactFolder {
  /** The folder, absolute. */
  readonly id: string;
}

/** Versions of artefacts and their measured success. */
export interface ArtefactStore {
  /**
   * Adds a version; if one with equal content exists, that one stays unchanged.
   * @returns whether it is new. @throws WhetstoneError `store.erased` if a part was made from erased data.
   */
  add(version: ArtefactVersion): Promise<boolean>;
  get(id: Id): Promise<ArtefactVersion | undefined>;
  /** All versions, oldest first, without their contents. */
  list(): Promise<readonly ArtefactSummary[]>;
  /** Adds a measurement, or replaces the one with its id, since a resumed run measures again. */
  measure(measure: ArtefactMeasure): Promise<void>;
  /** Oldest first. */
  measures(): Promise<readonly ArtefactMeasure[]>;
  /** Registers a folder that holds an artefact, so that erasure covers it. */
  addFolder(folder: string): Promise<void>;
}

/** A version is two records, so that a lineage can be read without contents. */
const [content, lineage, measured, folders] = ["artefact", "lineage", "measure", "artefactFolder"] as const;

interface Content {
  readonly id: Id;
  readonly artefact: Artefact;
}

/** @param guarded converts database errors to WhetstoneErrors. */
export function artefactsOn(database: Pick<Database, "db" | "kind">, guarded: Guarded): ArtefactStore {
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
          // lock, so that no other transaction takes the next number: this one could not retry with another
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

/** Number of lessons, cases, examples or rubrics of an artefact. */
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

/** The origins of each version and its parts, and of each folder's artefact. */
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
 * Removes parts that were made from erased data, from all versions and from the folders that they were written to.
 * @returns the number of removed parts by folder; those of the database under "".
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

/** Replaces a version's origins and reason if they came from erased data. */
const forgotten: Pick<ArtefactVersion, "origins" | "why"> = {
  origins: { by: "erasure", from: { sessions: [], users: [], responses: [], signals: [] }, trajectories: [] },
  why: "its sources were erased",
};

/** Number of versions that still contain one of the names. */
export async function countNaming(db: Kysely<Tables>, names: ReadonlySet<string>): Promise<number> {
  const naming = ({ from }: Origins): boolean =>
    [from.sessions, from.users, from.responses, from.signals].some((ids) => ids.some((id) => names.has(id)));
  let found = 0;
  for await (const origins of originsInTables(db)) if (origins.some(naming)) found++;
  return found;
}

/** Registered folders that hold artefacts. */
export const artefactFolders = async (db: Kysely<Tables>): Promise<readonly string[]> =>
  (await readRecords<ArtefactFolder>(db, folders)).map(({ id }) => id);
