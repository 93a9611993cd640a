import { stat } from "node:fs/promises";
import { isWhetstoneError } from "../../core/errors.ts";
import type { ReceivedSignal, ServedResponse } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import type { TrafficStore, Write } from "../../store/trafficStore.ts";
import type { Entry, Importer, MakeImporter } from "./entry.ts";
import { langfuse } from "./langfuse.ts";
import { langsmith } from "./langsmith.ts";
import { minari } from "./minari.ts";
import { openai } from "./openai.ts";
import { places } from "./places.ts";
import { readRecords } from "./records.ts";
import { trl } from "./trl.ts";
import { verifiers } from "./verifiers.ts";

/** Supported formats. */
export const importers = { langfuse, langsmith, minari, openai, trl, verifiers } as const satisfies Readonly<
  Record<string, MakeImporter>
>;
/** Name of a tool or format whose files can be imported. See {@link importers}. */
export type ImportFormat = keyof typeof importers;

/** Result of an import. */
export interface Imported {
  readonly records: number;
  readonly responses: Counted;
  readonly signals: Counted;
  /** Number of skipped records, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
}
/** `known`: already in the store, and left unchanged. */
export interface Counted {
  readonly added: number;
  readonly known: number;
}

/** Settings of {@link importFile}. */
export interface ImportOptions {
  readonly from: ImportFormat;
  /** Reads everything but writes nothing (dry run). Default false. */
  readonly dryRun?: boolean;
  /** Time of arrival, in milliseconds since 1970. */
  readonly now: number;
  /** Called with the current phase, the number of characters read so far, and the file's size in bytes. */
  readonly progress?: (doing: "reading" | "checking" | "writing", read: number, of: number) => void;
}

/** Entries written in one transaction. */
const batchSize = 500;

/**
 * Imports a file of another tool into the store. The file is read completely before anything is written, so a broken
 * record leaves the store unchanged. Ids derive from the file's own: importing it again, also after a crash, adds what is
 * missing and no duplicates. Data of erased users is not imported again.
 * @throws WhetstoneError `import.invalid` with the line of a broken record; `store.full`, `store.failed`.
 */
export async function importFile(
  production: TrafficStore | undefined,
  file: string,
  { from, dryRun = false, now, progress = () => {} }: ImportOptions,
): Promise<Imported> {
  const importer: Importer = importers[from](file);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  const all = (doing: Parameters<typeof progress>[0]) =>
    readRecords(file, (read) => progress(doing, read, size));
  if (importer.survey) for await (const { value } of all("reading")) importer.survey(value);
  const where = places();
  const ids = new Set<Id>();
  const ignored: Record<string, number> = {};
  let records = 0;
  let signals = 0;
  for await (const record of all("checking")) {
    records++;
    for (const entry of importer.entries(record)) {
      if (entry.kind === "ignored") ignored[entry.why] = (ignored[entry.why] ?? 0) + 1;
      else if (entry.kind === "signal") signals++;
      else {
        where.add(entry.draft);
        ids.add(entry.draft.id);
      }
    }
  }
  if (dryRun || !production) {
    return {
      records,
      responses: { added: ids.size, known: 0 },
      signals: { added: signals, known: 0 },
      ignored,
    };
  }
  const settled = where.settle();
  // no format of a file has calls of tools apart from the messages that name them
  const done = {
    response: { added: 0, known: 0 },
    signal: { added: 0, known: 0 },
    traced: { added: 0, known: 0 },
  };
  let batch: Write[] = [];
  const flush = async (): Promise<void> => {
    const erased = await writeAll(
      production,
      batch,
      (kind, duplicate) => done[kind][duplicate ? "known" : "added"]++,
    );
    if (erased > 0) ignored["erased before"] = (ignored["erased before"] ?? 0) + erased;
    batch = [];
  };
  for await (const record of all("writing")) {
    for (const entry of importer.entries(record)) {
      const one = entry.kind === "response" ? settled.get(entry.draft.id) : undefined;
      const write = writeOf(entry, one, from, now);
      if (write) batch.push(write);
    }
    if (batch.length >= batchSize) await flush();
  }
  await flush();
  return { records, responses: done.response, signals: done.signal, ignored };
}

function writeOf(
  entry: Entry,
  place: Pick<ServedResponse, "trajectory" | "turn"> | undefined,
  from: ImportFormat,
  now: number,
): Write | undefined {
  if (entry.kind === "signal") {
    const { id, at } = entry.signal;
    const signal: ReceivedSignal = { ...entry.signal, at: timed(at, now), key: id, received: now };
    return { kind: "signal", signal };
  }
  if (entry.kind === "ignored" || !place) return undefined;
  const { draft } = entry;
  return {
    kind: "response",
    response: {
      ...draft,
      ...place,
      at: timed(draft.at, now),
      origin: "import",
      version: `import:${draft.model === "" ? from : draft.model}`,
      propensity: 1,
      channels: [],
    },
  };
}

/** Examples have an order instead of times, stored as milliseconds after 1970: they count from the time of the import. */
const timed = (at: number, now: number): number => (at < 86_400_000 ? now + at : at);

/** @returns the number of entries that were refused because their subject has been erased. */
async function writeAll(
  production: TrafficStore,
  batch: readonly Write[],
  count: (kind: Write["kind"], duplicate: boolean) => void,
): Promise<number> {
  try {
    const written = await production.write(batch);
    for (const [i, { duplicate }] of written.entries()) count(batch[i]!.kind, duplicate);
    return 0;
  } catch (e) {
    if (!isWhetstoneError(e) || e.code !== "store.erased") throw e;
  }
  let erased = 0;
  for (const entry of batch) {
    try {
      const [written] = await production.write([entry]);
      count(entry.kind, written?.duplicate ?? false);
    } catch (e) {
      if (!isWhetstoneError(e) || e.code !== "store.erased") throw e;
      erased++;
    }
  }
  return erased;
}
