/** Trajectories as rows: words as JSON, token arrays as bytes, nothing lost, nothing that repeats written twice. */
import type { Message, Trajectory, Turn, TurnTokens } from "../core/words.ts";

/** The columns of a trajectory row that hold its content. */
export interface PackedTrajectory {
  readonly data: string;
  readonly tokens: Uint8Array | null;
  readonly logp: Uint8Array | null;
  readonly behaviour: Uint8Array | null;
  readonly entropy: Uint8Array | null;
  readonly forced: Uint8Array | null;
}

/** How one turn's arrays lie in the byte columns. */
interface TokenLayout {
  /** Tokens at the start of the prompt that equal those of the turn before, prompt and action. */
  readonly keep: number;
  /** Prompt tokens after those. */
  readonly prompt: number;
  readonly action: number;
  readonly entropy?: true;
  readonly forced?: true;
  /** Number of allowed ids at each action token. */
  readonly allowed?: readonly number[];
}

type PackedTurn = Omit<Turn, "prompt" | "tokens"> & {
  /** Messages at the start of the prompt that equal those of the turn before, prompt and action. */
  readonly keep: number;
  readonly prompt: readonly Message[];
  readonly layout?: TokenLayout;
};

type PackedData = Omit<Trajectory, "turns"> & { readonly turns: readonly PackedTurn[] };

export function packTrajectory(trajectory: Trajectory): PackedTrajectory {
  const ids: Int32Array[] = [];
  const logp: Float32Array[] = [];
  const behaviour: Float32Array[] = [];
  const entropy: Float32Array[] = [];
  const forced: Uint8Array[] = [];
  let saidBefore: readonly string[] = [];
  let tokensBefore: Int32Array = new Int32Array(0);

  const turns = trajectory.turns.map((turn): PackedTurn => {
    const { prompt, tokens, ...rest } = turn;
    const said = prompt.map((message) => JSON.stringify(message));
    const keep = commonPrefix(said, saidBefore);
    saidBefore = [...said, JSON.stringify(turn.action)];
    const packed = { ...rest, keep, prompt: prompt.slice(keep) };
    if (tokens === undefined) return packed;

    const keepTokens = commonPrefix(tokens.prompt, tokensBefore);
    tokensBefore = concatenate(Int32Array, [tokens.prompt, tokens.action]);
    ids.push(tokens.prompt.subarray(keepTokens), tokens.action, ...(tokens.allowed ?? []));
    logp.push(tokens.logp);
    behaviour.push(tokens.behaviour);
    if (tokens.entropy) entropy.push(tokens.entropy);
    if (tokens.forced) forced.push(tokens.forced);
    const layout: TokenLayout = {
      keep: keepTokens,
      prompt: tokens.prompt.length - keepTokens,
      action: tokens.action.length,
      ...(tokens.entropy && { entropy: true }),
      ...(tokens.forced && { forced: true }),
      ...(tokens.allowed && { allowed: tokens.allowed.map((a) => a.length) }),
    };
    return { ...packed, layout };
  });

  const data: PackedData = { ...trajectory, turns };
  const logpBytes = bytesOf(concatenate(Float32Array, logp));
  const behaviourBytes = bytesOf(concatenate(Float32Array, behaviour));
  const tokenless = ids.length === 0;
  return {
    data: toJson(data),
    tokens: tokenless ? null : bytesOf(concatenate(Int32Array, ids)),
    logp: tokenless ? null : logpBytes,
    behaviour: tokenless || Buffer.compare(logpBytes, behaviourBytes) === 0 ? null : behaviourBytes,
    entropy: entropy.length === 0 ? null : bytesOf(concatenate(Float32Array, entropy)),
    forced: forced.length === 0 ? null : concatenate(Uint8Array, forced),
  };
}

export function unpackTrajectory(packed: PackedTrajectory): Trajectory {
  const { turns, ...rest } = fromJson(packed.data) as PackedData;
  const ids = reader(int32Of(packed.tokens));
  const logp = reader(float32Of(packed.logp));
  const behaviour = reader(float32Of(packed.behaviour ?? packed.logp));
  const entropy = reader(float32Of(packed.entropy));
  const forced = reader<Uint8Array>(packed.forced ?? new Uint8Array(0));
  let saidBefore: readonly Message[] = [];
  let tokensBefore: Int32Array = new Int32Array(0);

  return {
    ...rest,
    turns: turns.map(({ keep, layout, prompt: added, ...turn }): Turn => {
      const prompt = [...saidBefore.slice(0, keep), ...added];
      saidBefore = [...prompt, turn.action];
      if (layout === undefined) return { ...turn, prompt };
      const promptIds = concatenate(Int32Array, [tokensBefore.subarray(0, layout.keep), ids(layout.prompt)]);
      const action = ids(layout.action);
      tokensBefore = concatenate(Int32Array, [promptIds, action]);
      const tokens: TurnTokens = {
        prompt: promptIds,
        action,
        logp: logp(layout.action),
        behaviour: behaviour(layout.action),
        ...(layout.entropy && { entropy: entropy(layout.action) }),
        ...(layout.allowed && { allowed: layout.allowed.map((n) => ids(n)) }),
        ...(layout.forced && { forced: forced(layout.action) }),
      };
      return { ...turn, prompt, tokens };
    }),
  };
}

function commonPrefix<T>(a: ArrayLike<T>, b: ArrayLike<T>): number {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && a[n] === b[n]) n++;
  return n;
}

type Numbers = Int32Array | Float32Array | Uint8Array;

function concatenate<T extends Numbers>(
  kind: new (length: number) => T,
  parts: readonly ArrayLike<number>[],
): T {
  const out = new kind(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Hands out copies of the next n numbers, one call after the other. */
function reader<T extends Numbers>(all: T): (n: number) => T {
  let at = 0;
  return (n) => {
    at += n;
    return all.slice(at - n, at) as T;
  };
}

/** Copied, so that what a float32 holds, NaN's payload included, is exactly what is written. */
export function bytesOf(numbers: Int32Array | Float32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength).slice();
}

export function float32Of(bytes: Uint8Array | null): Float32Array<ArrayBuffer> {
  return bytes === null ? new Float32Array(0) : new Float32Array(Uint8Array.from(bytes).buffer);
}

function int32Of(bytes: Uint8Array | null): Int32Array<ArrayBuffer> {
  return bytes === null ? new Int32Array(0) : new Int32Array(Uint8Array.from(bytes).buffer);
}

/** JSON that keeps NaN, the infinities and -0. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) =>
    typeof v === "number" && (!Number.isFinite(v) || Object.is(v, -0))
      ? { $number: Object.is(v, -0) ? "-0" : String(v) }
      : v,
  );
}

export function fromJson(text: string): unknown {
  return JSON.parse(text, (_key, v: unknown) =>
    typeof v === "object" && v !== null && "$number" in v ? Number(v.$number) : v,
  );
}
