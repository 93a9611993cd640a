/** The data of a pass as requests: not too large, and of few sizes for a server that compiles a program for each. */
import { type Datum, textInput } from "./protocol.ts";
import type { Session } from "./session.ts";

/** Number of targets. */
export const lengthOf = (d: Datum | undefined): number => d?.loss_fn_inputs.target_tokens?.data.length ?? 0;

/** Approximate bytes of a datum in protobuf: 4 per input token, and 4 to 8 for each number at it. */
const bytesOf = (d: Datum): number => {
  let bytes = 4 * lengthOf(d) + 64;
  for (const { dtype, data } of Object.values(d.loss_fn_inputs)) {
    bytes += (dtype === "int64" ? 8 : 4) * data.length + 32;
  }
  return bytes;
};

/** Splits the data so that no chunk exceeds the datums or bytes; a single datum that is too large is a chunk of its own. */
function chunksOf(data: readonly Datum[], most: number, mostBytes: number): Datum[][] {
  const parts: Datum[][] = [];
  let bytes = 0;
  for (const datum of data) {
    const more = bytesOf(datum);
    const last = parts.at(-1);
    if (last && last.length < most && bytes + more <= mostBytes) {
      last.push(datum);
      bytes += more;
    } else {
      parts.push([datum]);
      bytes = more;
    }
  }
  return parts;
}

/** The smallest number with two binary digits that is at least n: 20 numbers up to 1,024. SkyRL rounds lengths so. */
function rounded(n: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(n)) - 1);
  return Math.ceil(n / step) * step;
}

/** One token whose weights are 0, with the numbers that a loss wants of a datum. */
function emptyLike({ loss_fn_inputs }: Datum): Datum {
  const inputs = Object.entries(loss_fn_inputs).map(([name, { dtype, data, shape }]) => {
    const own = [1, ...shape.slice(1)];
    const cells = data.slice(
      0,
      own.reduce((x, y) => x * y),
    );
    return [name, { dtype, data: name === "target_tokens" ? cells : cells.fill(0), shape: own }] as const;
  });
  const model_input = textInput(loss_fn_inputs.target_tokens!.data.slice(0, 1));
  return { model_input, loss_fn_inputs: Object.fromEntries(inputs) };
}

/** What one request sends. */
interface Chunk {
  readonly data: readonly Datum[];
  /** How many of them were given; the others, after them, are empty. */
  readonly own: number;
}

export function chunksFor(
  { config, compiles }: Pick<Session, "config" | "compiles">,
  data: readonly Datum[],
): Chunk[] {
  const most = config.fwdbwd_max_chunk_len;
  return chunksOf(data, most, config.fwdbwd_max_chunk_bytes_count).map((chunk) => {
    const own = chunk.length;
    const more = compiles ? Math.min(most, rounded(own)) - own : 0;
    return { data: more > 0 ? [...chunk, ...new Array<Datum>(more).fill(emptyLike(chunk[0]!))] : chunk, own };
  });
}
