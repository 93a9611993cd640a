/** Splits bytes into whole server-sent events, with their original text. */
import { ownPace } from "../../common/files/slices.ts";
import { whyUnread } from "./answerBody.ts";

/** One event, or several consecutive events without data: its text with the final blank line, and the content of its `data` lines. */
export interface ServerEvent {
  readonly text: string;
  /** Absent: a comment, such as a keep-alive, or an unread event. */
  readonly data?: string;
  /** Why its data was not read. */
  readonly unread?: string;
}

/** Most bytes of one event, so that an endless line does not fill the memory. */
export const mostEventBytes = 16 << 20;
/** Most lines of an event whose data is read. */
const mostLines = 10_000;
/** Lines after which the events so far are yielded, so that other work gets a turn. */
const linesTogether = 1024;

const [lf, cr] = [10, 13];
const nothing = Buffer.alloc(0);
const dataField = [...Buffer.from("data:")];
/** Compared byte by byte: a view of each line would cost more than everything else here. */
const isDataField = (bytes: Buffer, at: number): boolean =>
  dataField.every((byte, i) => bytes[at + i] === byte);

/**
 * Splits a body into events, each yielded as soon as it is whole; events that arrive together are yielded together, up to a limit.
 * Accepts every line ending of the standard. Text after the last blank line is an event as well, since some servers omit the
 * final blank line. No byte is searched twice.
 * @throws RangeError for an event above {@link mostEventBytes}.
 */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ServerEvent[]> {
  const append = appender();
  const pace = ownPace();
  let held: Buffer = nothing;
  /** Start of the current line, and where the search for its end continues. */
  let [line, from] = [0, 0];
  /** Line count of the current event, and whether it has data. */
  let [lines, hasData] = [0, false];
  /** Whether the last line ended with a CR whose LF may still arrive. */
  let half = false;
  let counted = 0;
  for await (const chunk of body) {
    let began = performance.now();
    held = append(held, bufferOf(chunk));
    let whole: ServerEvent[] = [];
    /** Start of the events that were not yielded yet, and the end of those among them without data. */
    let [begin, quiet] = [0, 0];
    if (half && from < held.length) {
      half = false;
      if (held[from] === lf) line = ++from;
    }
    let nextLf = held.indexOf(lf, from);
    let nextCr = held.indexOf(cr, from);
    for (;;) {
      if (nextLf >= 0 && nextLf < from) nextLf = held.indexOf(lf, from);
      if (nextCr >= 0 && nextCr < from) nextCr = held.indexOf(cr, from);
      const end = nextCr < 0 || (nextLf >= 0 && nextLf < nextCr) ? nextLf : nextCr;
      if (end < 0) break;
      const isCr = end === nextCr;
      half = isCr && end + 1 === held.length;
      from = isCr && held[end + 1] === lf ? end + 2 : end + 1;
      if (end > line) {
        lines++;
        hasData ||= isDataField(held, line);
      } else if (hasData) {
        if (quiet > begin) whole.push({ text: held.toString("utf8", begin, quiet) });
        whole.push(eventOf(held.subarray(quiet, from), lines));
        begin = quiet = from;
        [lines, hasData] = [0, false];
      } else {
        quiet = from;
        lines = 0;
      }
      line = from;
      if (++counted % linesTogether !== 0) continue;
      if (whole.length > 0) yield whole;
      whole = [];
      await pace(began);
      began = performance.now();
    }
    if (quiet > begin) whole.push({ text: held.toString("utf8", begin, quiet) });
    if (whole.length > 0) yield whole;
    held = quiet === held.length ? nothing : held.subarray(quiet);
    line -= quiet;
    from = held.length;
    if (held.length > mostEventBytes) throw new RangeError(`an event of more than ${mostEventBytes} bytes`);
    // without waiting work, continue at once
    const turn = pace(began);
    if (turn) await turn;
  }
  if (held.length > 0) yield [eventOf(held, lines + 1)];
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Appends a chunk to an incomplete event. The buffer has spare room, so that each byte is copied only a few times. */
function appender(): (held: Buffer, chunk: Buffer) => Buffer {
  let room: Buffer = Buffer.alloc(0);
  return (held, chunk) => {
    if (held.length === 0) return chunk;
    const length = held.length + chunk.length;
    let from = held.buffer === room.buffer ? held.byteOffset - room.byteOffset : room.length;
    if (from + length > room.length) {
      room = Buffer.allocUnsafeSlow(2 * length);
      held.copy(room);
      from = 0;
    }
    chunk.copy(room, from + held.length);
    return room.subarray(from, from + length);
  };
}

function eventOf(bytes: Buffer, lines: number): ServerEvent {
  const text = bytes.toString("utf8");
  const unread = lines > mostLines ? `an event has more than ${mostLines} lines` : whyUnread(bytes);
  if (unread !== undefined) return { text, unread };
  const data = text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""));
  return data.length === 0 ? { text } : { text, data: data.join("\n") };
}
