/** Where a command's words go: people read text, scripts read one JSON object a line. */
import { styleText } from "node:util";
import type { Command } from "commander";
import type { Interval } from "../core/interval.ts";
import type { FetchProgress } from "../engine/local/hub.ts";
import { asCalled, calledHere } from "./called.ts";

export interface Io {
  /** Under --json, text for people goes to stderr and stdout carries JSON lines alone. */
  readonly json: boolean;
  readonly debug: boolean;
  /** Whether text for people goes to a terminal: colours and a live view. */
  readonly terminal: boolean;
  /** Columns of that terminal, 100 elsewhere. */
  readonly width: number;
  /** Exit code of a command that ends by itself. */
  code: number;
  /** Text for people, as it is. */
  write(text: string): void;
  /** Lines for people. */
  say(...lines: readonly string[]): void;
  error(line: string): void;
  /** One JSON line, only under --json. NaN and the infinities become null, as JSON has none. */
  record(value: unknown): void;
}

/** What words are written to: a terminal has columns. */
type Sink = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
type Style = Parameters<typeof styleText>[0];

/** @param args the command line: whether --json and --debug are on has to be known before it is parsed. */
export function createIo(
  args: readonly string[],
  { out, err }: { readonly out: Sink; readonly err: Sink } = { out: process.stdout, err: process.stderr },
  called: string = calledHere(),
): Io {
  const json = args.includes("--json");
  const people = json ? err : out;
  // a reader that has had enough (`| head`) is no failure: the command goes on to its own end, unheard
  const closed = new Set<Sink>();
  for (const stream of [out, err]) {
    stream.on("error", (e: NodeJS.ErrnoException) => {
      if (e.code !== "EPIPE") throw e;
      closed.add(stream);
    });
  }
  const write = (stream: Sink, text: string): void => {
    if (!closed.has(stream)) stream.write(text);
  };
  return {
    json,
    debug: args.includes("--debug") || process.env.WHETSTONE_DEBUG === "1",
    terminal: people.isTTY === true && process.env.TERM !== "dumb",
    width: people.columns || 100, // a terminal that does not know says 0
    code: 0,
    write: (text) => write(people, asCalled(text, called)),
    say: (...lines) => write(people, `${asCalled(lines.join("\n"), called)}\n`),
    error: (line) => write(err, `${asCalled(line, called)}\n`),
    record: (value) => {
      if (json) write(out, `${JSON.stringify(value)}\n`);
    },
  };
}

/** Coloured on a terminal, plain elsewhere; NO_COLOR is respected. */
export function paint(io: Pick<Io, "terminal">, style: Style, text: string): string {
  return io.terminal && !process.env.NO_COLOR ? styleText(style, text, { validateStream: false }) : text;
}

/** A subcommand with what every one takes. */
export function addCommand(
  program: Command,
  name: string,
  summary: string,
  examples: readonly string[],
): Command {
  return program
    .command(name)
    .summary(summary)
    .description(summary)
    .option("--json", "one JSON object a line on stdout, text on stderr")
    .option("--debug", "print the stack of an error")
    .addHelpText("after", `\nExamples:\n${examples.map((e) => `  ${e}`).join("\n")}\n`);
}

/** A last paragraph of a command's help, folded as the rest of it is. */
export const addNote = (command: Command, text: string): Command =>
  command.addHelpText("after", () => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
    // the names of commands grow before lines are counted
    return command.createHelp().boxWrap(asCalled(text, calledHere()), width);
  });

/** Longest cell that is never broken, and least width of a column of longer ones. */
const [shortCell, leastText] = [24, 16];

/**
 * Columns as wide as their widest cell; numbers to the right.
 * @param width of the terminal: where it is too small, long texts go over several lines, then the last columns are left out.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  const columns = head.map((h, c) => {
    const cells = [h, ...rows.map((r) => r[c] ?? "")];
    const natural = Math.max(...cells.map((cell) => cell.length));
    const word = Math.max(...cells.flatMap((cell) => wordsOf(cell).map(({ length }) => length)));
    return { width: natural, least: natural <= shortCell ? natural : Math.max(leastText, word) };
  });
  const taken = (widths: readonly number[]): number => widths.reduce((sum, w) => sum + w + 2, -2);
  while (columns.length > 1 && taken(columns.map(({ least }) => least)) > width) columns.pop();
  for (let over = taken(columns.map((c) => c.width)) - width; over > 0; over--) {
    const wide = columns.filter((c) => c.width > c.least);
    const widest = wide.reduce((a, b) => (b.width > a.width ? b : a), wide[0] ?? { width: 0, least: 0 });
    widest.width--;
  }
  const right = columns.map(
    (_, c) => rows.length > 0 && rows.every((r) => /^([-+]?[\d.,]+( ?[%a-z]*)|)$/.test(r[c] ?? "")),
  );
  return [head, ...rows].flatMap((row) => {
    const cells = columns.map((c, i) => wrapped(row[i] ?? "", c.width));
    return Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, line) =>
      columns
        .map((c, i) => {
          const part = cells[i]![line] ?? "";
          return right[i] ? part.padStart(c.width) : part.padEnd(c.width);
        })
        .join("  ")
        .trimEnd(),
    );
  });
}

/** Words, of which a share with its interval is one. */
const wordsOf = (text: string): string[] =>
  text.replaceAll(/\S+ % \[[^\]]*\],?/g, (whole) => whole.replaceAll(" ", "\u00a0")).split(" ");

/** Lines of whole words. */
function wrapped(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of wordsOf(text)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length > width && line !== "") {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((one) => one.replaceAll("\u00a0", " "));
}

/** Columns that a table may take: files and pipes get every row on one line. */
export const roomOf = (io: Pick<Io, "terminal" | "width">): number =>
  io.terminal ? io.width : Number.POSITIVE_INFINITY;

/** A line for people: on a terminal that is narrower, several that end between words. */
export function folded(io: Pick<Io, "terminal" | "width">, line: string): string[] {
  if (line.length <= roomOf(io)) return [line];
  const words = line.trimStart();
  const indent = line.length - words.length;
  return wrapped(words, roomOf(io) - indent - 4).map(
    (part, i) => " ".repeat(indent + (i > 0 ? 4 : 0)) + part,
  );
}

export const percent = (x: number): string => (Number.isFinite(x) ? `${(100 * x).toFixed(1)} %` : "–");

export const interval = (x: Interval): string =>
  Number.isFinite(x.mean)
    ? `${percent(x.mean)} [${(100 * x.low).toFixed(1)}, ${(100 * x.high).toFixed(1)}]`
    : "–";

/** Three significant digits. */
export function number(x: number): string {
  if (!Number.isFinite(x)) return "–";
  if (Number.isInteger(x)) return String(x);
  return Math.abs(x) >= 1000 ? x.toFixed(0) : String(Number(x.toPrecision(3)));
}

/** 0.4 s, 42 s, 3 min 05 s, 2 h 10 min. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  const s = Math.round(seconds);
  const two = (n: number): string => String(n).padStart(2, "0");
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))} min`;
}

/** How far something is: one line that is written over on a terminal, a line at every quarter elsewhere; on stderr. */
export function progressLine(
  io: Pick<Io, "error" | "json">,
  what: string,
): { at(done: number, of: number): void; close(): void } {
  const drawn = process.stderr.isTTY === true && process.env.TERM !== "dumb" && !io.json;
  let said = 0;
  return {
    at: (done, of) => {
      if (drawn) return void process.stderr.write(`\r\x1b[2K${what}: ${done} of ${of}`);
      const quarter = Math.floor((4 * done) / of);
      if (quarter > said) io.error(`${what}: ${done} of ${of}`);
      said = Math.max(said, quarter);
    },
    close: () => {
      if (drawn) process.stderr.write("\r\x1b[2K");
    },
  };
}

/** Says what is waited for, once that has taken two seconds. */
export async function lateNote<T>(io: Pick<Io, "error">, line: string, work: Promise<T>): Promise<T> {
  const late = setTimeout(() => io.error(line), 2000);
  try {
    return await work;
  } finally {
    clearTimeout(late);
  }
}

/** As {@link progressLine}, for work that usually ends at once: it prints nothing in its first two seconds. */
export function lateProgress(
  io: Pick<Io, "error" | "json">,
  what: string,
  of: number,
): { one(): void; close(): void } {
  const line = progressLine(io, what);
  let [done, late] = [0, false];
  const begin = setTimeout(() => {
    late = true;
    line.at(done, of);
  }, 2000);
  return {
    one: () => {
      done++;
      if (late) line.at(done, of);
    },
    close: () => {
      clearTimeout(begin);
      line.close();
    },
  };
}

/** A line every few seconds while a model comes from the Hub. */
export function downloading(io: Pick<Io, "error">): (at: FetchProgress) => void {
  let said = Date.now();
  return ({ file, bytes, ofBytes }) => {
    if (Date.now() - said < 2000 && bytes < ofBytes) return;
    said = Date.now();
    const megabytes = (n: number): string => (n / 1e6).toFixed(0);
    io.error(`Fetching ${file}: ${megabytes(bytes)} of ${megabytes(ofBytes)} MB`);
  };
}
