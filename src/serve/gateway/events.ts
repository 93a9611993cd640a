/** Server-sent events out of bytes, whole, with their text as it came. */

/** One event: its text with the blank line at its end, and what its `data` lines say. */
export interface ServerEvent {
  readonly text: string;
  /** Absent: a comment, such as a sign of life. */
  readonly data?: string;
}

/** Bytes that one event may have at most: whoever never ends a line must not fill the memory. */
export const mostEventBytes = 16 << 20;

const [lf, cr] = [10, 13];

/**
 * Splits a body into events, each as soon as it is whole; those that came together stay together. Lines may end in any of the
 * ways that the standard allows. What comes after the last blank line is an event as well, since some servers leave it out.
 * @throws RangeError for an event above {@link mostEventBytes}.
 */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ServerEvent[]> {
  const append = appender();
  let held: Buffer = Buffer.alloc(0);
  // where the search for a blank line goes on
  let from = 0;
  for await (const chunk of body) {
    held = append(held, bufferOf(chunk));
    const whole: ServerEvent[] = [];
    let begin = 0;
    for (let end = blankLine(held, from); end > 0; end = blankLine(held, begin)) {
      whole.push(eventOf(held.subarray(begin, end)));
      begin = end;
    }
    if (whole.length > 0) yield whole;
    held = held.subarray(begin);
    from = Math.max(0, held.length - 3);
    if (held.length > mostEventBytes) throw new RangeError(`an event of more than ${mostEventBytes} bytes`);
  }
  if (held.length > 0) yield [eventOf(held)];
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Joins what is held and what came: where it is not whole yet, in memory with room for more, so that each byte is copied a few times. */
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

const lineFeeds = Buffer.from("\n\n");

/** Where the first blank line at or after `from` ends; 0 where there is none yet. */
function blankLine(bytes: Buffer, from: number): number {
  const plain = bytes.indexOf(lineFeeds, from);
  // as nearly everybody ends lines; the search for it costs a tenth of a look at each byte
  if (bytes.subarray(from, plain < 0 ? undefined : plain).indexOf(cr) < 0) return plain < 0 ? 0 : plain + 2;
  for (let i = from; i < bytes.length - 1; i++) {
    const [a, b] = [bytes[i], bytes[i + 1]];
    if (a === lf && b === lf) return i + 2;
    if (a === cr && b === cr) return i + 2;
    if (a === lf && b === cr && bytes[i + 2] === lf) return i + 3;
  }
  return 0;
}

function eventOf(bytes: Buffer): ServerEvent {
  const text = bytes.toString("utf8");
  const data = text
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""));
  return data.length === 0 ? { text } : { text, data: data.join("\n") };
}
