/** Parses the body of a forward or forward_backward, in JSON or protobuf, into plain values; long bodies are parsed in a worker thread. */
import { messageOf } from "../../core/errors.ts";
import { readPass, readTurn } from "../../engine/tinker/protobuf.ts";
import * as wire from "../../engine/tinker/protocol.ts";
import { type BodyLimits, parseJson } from "../../http/body.ts";
import { digestOf, whatIsWrong } from "./read.ts";

/** Limits: millions of numbers in few fields. Parsed JSON takes about ten times its size in memory. */
export const passBody: BodyLimits = { bytes: 16 * 2 ** 20, depth: 32, values: 3_000_000, names: 1000 };

const schemas = { forward_backward: wire.forwardBackwardRequest, forward: wire.forwardRequest } as const;
export type PassKind = keyof typeof schemas;

export interface PassBody {
  readonly kind: PassKind | "protobuf";
  /** Decompressed bytes. */
  readonly bytes: Uint8Array;
}

export interface ReadPass {
  /** The parsed pass, or why it is refused. */
  readonly read: { readonly pass: wire.Pass } | { readonly status: 413 | 422; readonly message: string };
  /** Its model and sequence number, if they could be read. */
  readonly turn: wire.Turn | undefined;
  /** Digest of the body, which tells a retry from another request. */
  readonly digest: string;
}

export function readPassBody({ kind, bytes }: PassBody): ReadPass {
  const digest = digestOf(bytes);
  if (kind === "protobuf") {
    try {
      const pass = readPass(bytes);
      return { read: { pass }, turn: pass, digest };
    } catch (e) {
      return { read: { status: 422, message: messageOf(e) }, turn: readTurn(bytes), digest };
    }
  }
  const parsed = parseJson(bytes, passBody);
  if ("status" in parsed) {
    const { status, message } = parsed;
    return { read: { status: status === 413 ? status : 422, message }, turn: undefined, digest };
  }
  const { data, error } = schemas[kind].safeParse(parsed.json);
  return {
    read: data ? { pass: packed(data) } : { status: 422, message: whatIsWrong(error) },
    turn: wire.turn.safeParse(parsed.json).data,
    digest,
  };
}

/** Converts tokens to typed arrays, which are cheap to send between threads. */
const packed = (pass: wire.Pass): wire.Pass => ({
  ...pass,
  data: pass.data.map(({ model_input, loss_fn_inputs }) => ({
    model_input: {
      chunks: model_input.chunks.map((chunk) =>
        chunk.type === "encoded_text" ? { ...chunk, tokens: Int32Array.from(chunk.tokens) } : chunk,
      ),
    },
    loss_fn_inputs,
  })),
});
