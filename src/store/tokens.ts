/** Token arrays as bytes: what a turn read and sampled, nothing lost, no prompt token that is known already. */
import type { TurnTokens } from "../core/types.ts";

/** Little-endian arrays one after the other, as typed arrays have them on every machine that Node runs on. */
export interface TokenColumns {
  readonly tokens: Uint8Array | null;
  readonly logp: Uint8Array | null;
  /** NULL where it equals logp bit for bit. */
  readonly behaviour: Uint8Array | null;
  readonly entropy: Uint8Array | null;
  readonly forced: Uint8Array | null;
}

/** How the arrays of one turn lie in the columns. */
export interface TokenLayout {
  /** Tokens at the start of the prompt that equal those that were known before. */
  readonly keep: number;
  /** Prompt tokens after those. */
  readonly prompt: number;
  readonly action: number;
  readonly entropy?: true;
  readonly forced?: true;
  /** Number of allowed ids at each action token. */
  readonly allowed?: readonly number[];
}

export interface TokenWriter {
  /** @param keep number of tokens at the start of the prompt that the reader knows already: they are not written. */
  add(tokens: TurnTokens, keep: number): TokenLayout;
  columns(): TokenColumns;
}

export function tokenWriter(): TokenWriter {
  const ids: Int32Array[] = [];
  const logp: Float32Array[] = [];
  const behaviour: Float32Array[] = [];
  const entropy: Float32Array[] = [];
  const forced: Uint8Array[] = [];
  return {
    add(tokens, keep) {
      ids.push(tokens.prompt.subarray(keep), tokens.action, ...(tokens.allowed ?? []));
      logp.push(tokens.logp);
      behaviour.push(tokens.behaviour);
      if (tokens.entropy) entropy.push(tokens.entropy);
      if (tokens.forced) forced.push(tokens.forced);
      return {
        keep,
        prompt: tokens.prompt.length - keep,
        action: tokens.action.length,
        ...(tokens.entropy && { entropy: true }),
        ...(tokens.forced && { forced: true }),
        ...(tokens.allowed && { allowed: tokens.allowed.map((a) => a.length) }),
      };
    },
    columns() {
      const tokenless = ids.length === 0;
      const logpBytes = joinedBytes(logp);
      const behaviourBytes = joinedBytes(behaviour);
      return {
        tokens: tokenless ? null : joinedBytes(ids),
        logp: tokenless ? null : logpBytes,
        behaviour: tokenless || Buffer.compare(logpBytes, behaviourBytes) === 0 ? null : behaviourBytes,
        entropy: entropy.length === 0 ? null : joinedBytes(entropy),
        forced: forced.length === 0 ? null : joinedBytes(forced),
      };
    },
  };
}

/** Makes a whole prompt of the tokens that were written of it: the first `keep` known ones, then these. */
export type WholePrompt = (keep: number, added: Int32Array) => Int32Array;

/** Reads turns in the order in which they were added. */
export function tokenReader(columns: TokenColumns): (layout: TokenLayout, whole: WholePrompt) => TurnTokens {
  const ids = reader(int32Of(columns.tokens));
  const logp = reader(float32Of(columns.logp));
  const behaviour = reader(float32Of(columns.behaviour ?? columns.logp));
  const entropy = reader(float32Of(columns.entropy));
  const forced = reader<Uint8Array>(columns.forced ?? new Uint8Array(0));
  return (layout, whole) => ({
    prompt: whole(layout.keep, ids(layout.prompt)),
    action: ids(layout.action),
    logp: logp(layout.action),
    behaviour: behaviour(layout.action),
    ...(layout.entropy && { entropy: entropy(layout.action) }),
    ...(layout.allowed && { allowed: layout.allowed.map((n) => ids(n)) }),
    ...(layout.forced && { forced: forced(layout.action) }),
  });
}

/** How many items two lists share from their start. */
export function commonPrefix<T>(a: ArrayLike<T>, b: ArrayLike<T>): number {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && a[n] === b[n]) n++;
  return n;
}

type Numbers = Int32Array | Float32Array | Uint8Array;

/** The bytes of all of them, one after the other. */
const joinedBytes = (parts: readonly Numbers[]): Uint8Array =>
  Uint8Array.from(Buffer.concat(parts.map(bytesOf)));

/** Hands out copies of the next n numbers, one call after the other. */
function reader<T extends Numbers>(all: T): (n: number) => T {
  let at = 0;
  return (n) => {
    at += n;
    return all.slice(at - n, at) as T;
  };
}

/** Copied, so that what a float32 holds, NaN's payload included, is exactly what is written. */
export function bytesOf(numbers: Numbers): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength).slice();
}

export function float32Of(bytes: Uint8Array | null): Float32Array<ArrayBuffer> {
  return bytes === null ? new Float32Array(0) : new Float32Array(Uint8Array.from(bytes).buffer);
}

function int32Of(bytes: Uint8Array | null): Int32Array<ArrayBuffer> {
  return bytes === null ? new Int32Array(0) : new Int32Array(Uint8Array.from(bytes).buffer);
}
