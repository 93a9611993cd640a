import { stat } from "node:fs/promises";
import { isWhetstoneError } from "../../core/errors.ts";
import type { ReceivedSignal, ServedResponse } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import type { Production, Write } from "../../store/production.ts";
import type { Entry, Importer, MakeImporter } from "./entry.ts";
import { langfuse } from "./langfuse.ts";
import { langsmith } from "./langsmith.ts";
import { minari } from "./minari.ts";
import { openai } from "./openai.ts";
import { places } from "./places.ts";
import { readRecords } from "./records.ts";
import { trl } from "./trl.ts";
import { verifiers } from "./verifiers.ts";

/** Formats that can be read. */
export const importers = { langfuse, langsmith, minari, openai, trl, verifiers } as const satisfies Readonly<
  Record<string, MakeImporter>
>;
export type ImportFormat = keyof typeof importers;

/** What a file brought. */
export interface Imported {
  readonly records: number;
  readonly responses: Counted;
  readonly signals: Counted;
  /** Records from which nothing came, by why. */
  readonly ignored: Readonly<Record<string, number>>;
}
/** `known`: there already, and left as they were. */
export interface Counted {
  readonly added: number;
  readonly known: number;
}

/** Settings of {@link importFile}. */
export interface ImportOptions {
  readonly from: ImportFormat;
  /** Reads everything and writes nothing. Default false. */
  readonly dryRun?: boolean;
  /** Time of arrival, in milliseconds since 1970. */
  readonly now: number;
  /** Hears what is being done, and how much of the file it has been done to: characters read, and bytes in all. */
  readonly progress?: (doing: "reading" | "checking" | "writing", read: number, of: number) => void;
}

/** Entries written in one transaction. */
const batchSize = 500;

/**
 * Brings a file of somebody else's into the store. It is read whole before anything is written, so that a broken record
 * leaves the store as it was. What is written has ids that follow from the file's own: bringing it in again, also after a
 * crash in the middle, adds what is missing and nothing twice. What belongs to somebody who was erased is not taken back.
 * @throws WhetstoneError `import.invalid` with the line of a broken record; `store.full`, `store.failed`.
 */
export async function importFile(
  production: Production | undefined,
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
  const done = { response: { added: 0, known: 0 }, signal: { added: 0, known: 0 } };
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

/** Examples have no time, only an order, which stands as milliseconds after 1970: they count from when they came in. */
const timed = (at: number, now: number): number => (at < 86_400_000 ? now + at : at);

/** @returns how many were refused, as what they are about has been erased. */
async function writeAll(
  production: Production,
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
