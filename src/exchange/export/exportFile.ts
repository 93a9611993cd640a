import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { removeFolder, replaceFile, requireNewFile } from "../../common/files/files.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Id } from "../../core/types.ts";
import type { ExportRecord, TrafficStore } from "../../store/trafficStore.ts";
import { type Dropped, type ExampleFilter, trainingExamplesFrom } from "../derived.ts";
import { jsonLine } from "../jsonLine.ts";
import { type ExportFormat, exportFormats, type RowOptions } from "./formats.ts";

/** Settings of {@link exportFile}. */
export interface ExportOptions extends RowOptions {
  readonly to: ExportFormat;
  readonly filter?: ExampleFilter;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Called with the number of rows written so far. */
  readonly progress?: (rows: number) => void;
}

/** Result of an export: the file, how many different rows it has, and what was left out of it. */
export interface Exported {
  readonly file: string;
  readonly rows: number;
  /** Number of signals that gave no training example, by reason. */
  readonly dropped: Readonly<Partial<Record<Dropped["why"], number>>>;
}

/**
 * Writes training data, one JSON object per line. The file is written under a temporary name, flushed, and registered in
 * the store before it gets its final name, so that every file with user text is known to erasures. Equal rows are written
 * once.
 * @throws WhetstoneError `run.exists` if the file exists; `store.erased` if data was erased meanwhile: the file is then
 *   removed.
 */
export async function exportFile(
  production: TrafficStore,
  out: string,
  { to, filter = {}, now, progress = () => {}, ...options }: ExportOptions,
): Promise<Exported> {
  const file = resolve(out);
  requireNewFile(file);
  const began = Date.now();
  const rows: ExportRecord["rows"][number][] = [];
  const dropped: Partial<Record<Dropped["why"], number>> = {};
  const written = new Set<string>();
  async function* lines(): AsyncGenerator<string> {
    for await (const example of trainingExamplesFrom(production, filter)) {
      if (example.kind === "dropped") {
        dropped[example.why] = (dropped[example.why] ?? 0) + 1;
        continue;
      }
      const row = exportFormats[to](example, options);
      if (!row) continue;
      const line = jsonLine(row);
      const digest = createHash("sha256").update(line).digest("base64");
      if (written.has(digest)) continue;
      written.add(digest);
      rows.push({ sessions: example.from.sessions, users: example.from.users });
      progress(rows.length);
      yield line;
    }
  }
  const id = `export:${createHash("sha256").update(file).digest("hex").slice(0, 24)}`;
  await replaceFile(file, lines(), {
    announce: () => production.addExport({ id, file, format: to, at: now, rows }),
  });
  if (await wasErased(production, id, rows, began)) {
    await removeFolder(file);
    throw new WhetstoneError("store.erased", {
      where: file,
      got: "an erasure during the export",
      expected: "no erasure until the file is complete",
      fix: "Export again; the file has been removed.",
    });
  }
  return { file, rows: rows.length, dropped };
}

/** Whether data of the rows may have been erased since it was read. */
async function wasErased(
  production: TrafficStore,
  id: Id,
  rows: ExportRecord["rows"],
  began: number,
): Promise<boolean> {
  const record = (await production.exports()).find((one) => one.id === id);
  if (record?.rows.length !== rows.length) return true;
  if ((await production.erasures()).some(({ at }) => at >= began)) return true;
  const gone = new Set(rows.flatMap(({ sessions }) => sessions));
  for (let offset = 0; gone.size > 0; offset += page) {
    const some = await production.sessions({ limit: page, offset });
    for (const session of some) gone.delete(session.id);
    if (some.length < page) break;
  }
  return gone.size > 0;
}

const page = 1000;
