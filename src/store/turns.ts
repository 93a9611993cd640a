/** Trajectories as rows: words as JSON, token arrays as bytes, nothing lost, nothing that repeats written twice. */
import { fromExactJson, toExactJson } from "../core/json.ts";
import { concatIds } from "../core/pack.ts";
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
    tokensBefore = concatIds([tokens.prompt, tokens.action]);
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
  const logpBytes = joinedBytes(logp);
  const behaviourBytes = joinedBytes(behaviour);
  const tokenless = ids.length === 0;
  return {
    data: toExactJson(data),
    tokens: tokenless ? null : joinedBytes(ids),
    logp: tokenless ? null : logpBytes,
    behaviour: tokenless || Buffer.compare(logpBytes, behaviourBytes) === 0 ? null : behaviourBytes,
    entropy: entropy.length === 0 ? null : joinedBytes(entropy),
    forced: forced.length === 0 ? null : joinedBytes(forced),
  };
}

export function unpackTrajectory(packed: PackedTrajectory): Trajectory {
  const { turns, ...rest } = fromExactJson(packed.data) as PackedData;
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
      const promptIds = concatIds([tokensBefore.subarray(0, layout.keep), ids(layout.prompt)]);
      const action = ids(layout.action);
      tokensBefore = concatIds([promptIds, action]);
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
