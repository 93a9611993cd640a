/** Reads the records of a file, one at a time, each with its first line number. */
import { createReadStream } from "node:fs";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";

export interface FileRecord {
  /** From 1. */
  readonly line: number;
  readonly value: Json;
}

/**
 * JSON lines, a JSON list, concatenated JSON values, or CSV with a header, recognised by the first character: CSV begins
 * with neither a brace nor a bracket. CSV values are texts. Only one record is in memory, however long the file is. The
 * encoding must be UTF-8.
 * @param bytes called with the number of characters read.
 * @throws WhetstoneError `import.invalid` with the line.
 */
export async function* readRecords(
  file: string,
  bytes: (read: number) => void = () => {},
): AsyncGenerator<FileRecord> {
  const chunks = textOf(file, bytes);
  const { value: begin = "" } = await chunks.next();
  const all = joined(begin, chunks);
  yield* /^\s*[[{]/.test(begin) || begin.trim() === "" ? jsonRecords(file, all) : csvRecords(file, all);
}

async function* textOf(file: string, bytes: (read: number) => void): AsyncGenerator<string> {
  let read = 0;
  let line = 1;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decoded = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      const [before = ""] = new TextDecoder().decode(chunk).split("\ufffd", 1);
      throw invalid(
        file,
        line + linesIn(before),
        "bytes that are not UTF-8",
        "JSON lines, JSON or CSV",
        "Unpack or convert it: Dataset.to_json writes JSON lines from Parquet and Arrow.",
      );
    }
  };
  try {
    for await (const chunk of createReadStream(file)) {
      const text = decoded(chunk as Uint8Array);
      line += linesIn(text);
      read += text.length;
      bytes(read);
      yield text;
    }
    decoded();
  } catch (cause) {
    if (isWhetstoneError(cause)) throw cause;
    throw new WhetstoneError("import.invalid", {
      where: file,
      got: messageOf(cause),
      expected: "a file that can be read",
      fix: "Check the path.",
      cause,
    });
  }
}

const linesIn = (text: string): number => text.split("\n").length - 1;

async function* joined(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** The error for an invalid record that begins on a line. */
export function invalid(
  file: string,
  line: number,
  got: string,
  expected: string,
  fix = "Correct the record, or take it out.",
): WhetstoneError {
  return new WhetstoneError("import.invalid", { where: `${file}, line ${line}`, got, expected, fix });
}

/** Objects at the top level of a text, or in lists there. Only commas and blanks may stand between them. */
async function* jsonRecords(file: string, chunks: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  let [line, began] = [1, 0];
  let text = "";
  let depth = 0;
  let quoted = false;
  let escaped = false;
  for await (const chunk of chunks) {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i]!;
      if (c === "\n") line++;
      if (depth === 0) {
        if (c === "{") {
          [depth, from, began] = [1, i, line];
        } else if (!/[\s,[\]]/.test(c)) {
          throw invalid(file, line, `"${chunk.slice(i, i + 20)}"`, "a JSON object");
        }
      } else if (quoted) {
        if (escaped) escaped = false;
        else if (c === "\\") escaped = true;
        else if (c === '"') quoted = false;
      } else if (c === '"') quoted = true;
      else if (c === "{" || c === "[") depth++;
      else if (c === "}" || c === "]") {
        depth--;
        if (depth > 0) continue;
        yield { line: began, value: parsed(file, began, text + chunk.slice(from, i + 1)) };
        text = "";
      }
    }
    if (depth > 0) text += chunk.slice(from);
    requireShort(file, began, text.length);
  }
  if (depth > 0)
    throw invalid(file, began, "a record that never ends", "a whole JSON object", "Get the file again.");
}

/** Maximum characters of one record: more than any conversation, and well below the limit of a JavaScript string. */
const longestRecord = 2 ** 26;

function requireShort(file: string, line: number, length: number): void {
  if (length <= longestRecord) return;
  throw invalid(
    file,
    line,
    `a record of more than ${longestRecord} characters`,
    "one conversation per record",
    "Check that the file has the format that --from names; split it if it is one long record.",
  );
}

function parsed(file: string, line: number, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (e) {
    throw invalid(file, line, messageOf(e), "JSON");
  }
}

/** Rows of RFC 4180 as objects with the header's names. */
async function* csvRecords(file: string, chunks: AsyncIterable<string>): AsyncGenerator<FileRecord> {
  let header: readonly string[] | undefined;
  for await (const { line, cells } of csvRows(file, chunks)) {
    if (cells.length === 1 && cells[0] === "") continue;
    if (!header) {
      header = cells;
      continue;
    }
    if (cells.length !== header.length) {
      throw invalid(file, line, `${cells.length} cells`, `${header.length}, as in the header`);
    }
    yield { line, value: Object.fromEntries(header.map((name, i) => [name, cells[i]!])) };
  }
}

interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

async function* csvRows(file: string, chunks: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let [line, began] = [1, 1];
  let cells: string[] = [];
  let cell = "";
  /** Characters of the row before this chunk. */
  let length = 0;
  /** Inside quotes; after a quote that may close them or be the first of two. */
  let [quoted, closing] = [false, false];
  for await (const chunk of chunks) {
    /** Start of the text that belongs to the cell but has not been added yet. */
    let from = 0;
    const take = (until: number): void => {
      cell += chunk.slice(from, until);
      from = until + 1;
    };
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i];
      if (c === "\n") line++;
      if (closing) {
        closing = false;
        if (c === '"') continue; // the second of two is an escaped quote
        quoted = false;
      }
      if (quoted) {
        if (c !== '"') continue;
        take(i);
        closing = true;
      } else if (c === '"' && cell === "" && from === i) {
        quoted = true;
        from = i + 1;
      } else if (c === ",") {
        take(i);
        cells.push(cell);
        cell = "";
      } else if (c === "\n") {
        take(i);
        yield { line: began, cells: [...cells, cell] };
        [cells, cell, began, length] = [[], "", line, 0];
      } else if (c === "\r") take(i);
    }
    take(chunk.length);
    length += chunk.length;
    requireShort(file, began, length);
  }
  if (quoted && !closing) throw invalid(file, began, "a quote that is never closed", "a whole row");
  if (cells.length > 0 || cell !== "") yield { line: began, cells: [...cells, cell] };
}
