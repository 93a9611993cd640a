/** Trajectories as rows: words as JSON, token arrays as bytes, nothing lost, nothing that repeats written twice. */

import {
  continues,
  growingIds,
  onSharedSequences,
  sequenceLength,
  turnIn,
  wholeSequence,
} from "../common/tokens/sequence.ts";
import { fromExactJson, toExactJson } from "../core/json.ts";
import type { Message, Trajectory, Turn, TurnTokens } from "../core/types.ts";
import { commonPrefix, type TokenColumns, type TokenLayout, tokenReader, tokenWriter } from "./tokens.ts";

/** What was asked in a trajectory, and what the agent did. */
export interface TrajectoryWords {
  /** The last message of a user before the first action; where no user spoke, the last message. */
  readonly asked: string;
  readonly actions: readonly Message[];
}

/** The columns of a trajectory row that hold its content. */
export interface PackedTrajectory extends TokenColumns {
  readonly data: string;
}

type PackedTurn = Omit<Turn, "prompt" | "tokens"> & {
  /** Messages at the start of the prompt that equal those of the turn before, prompt and action. */
  readonly keep: number;
  readonly prompt: readonly Message[];
  readonly layout?: TokenLayout;
};

type PackedData = Omit<Trajectory, "turns"> & { readonly turns: readonly PackedTurn[] };

export function packTrajectory(trajectory: Trajectory): PackedTrajectory {
  const writer = tokenWriter();
  let saidBefore: readonly Message[] = [];
  let tokensBefore: TurnTokens | undefined;

  const turns = trajectory.turns.map((turn): PackedTurn => {
    const { prompt, tokens, ...rest } = turn;
    const keep = sameMessages(prompt, saidBefore);
    saidBefore = [...prompt, turn.action];
    const packed = { ...rest, keep, prompt: prompt.slice(keep) };
    if (tokens === undefined) return packed;
    const layout = writer.add(tokens, sameTokens(tokens, tokensBefore));
    tokensBefore = tokens;
    return { ...packed, layout };
  });

  const data: PackedData = { ...trajectory, turns };
  return { data: toExactJson(data), ...writer.columns() };
}

/** How many tokens a prompt shares with the turn before, from the start. */
function sameTokens(tokens: TurnTokens, before: TurnTokens | undefined): number {
  if (!before) return 0;
  if (continues(before, tokens)) return sequenceLength(before);
  return commonPrefix(tokens.prompt, wholeSequence(before));
}

/** How many messages two conversations share from their start. Those of one episode are the same objects. */
function sameMessages(a: readonly Message[], b: readonly Message[]): number {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && (a[n] === b[n] || JSON.stringify(a[n]) === JSON.stringify(b[n]))) n++;
  return n;
}

/** The last message of a user before the first action, or the last message of anybody. */
export function askedIn([first]: readonly Pick<Turn, "prompt">[]): string {
  const before = first?.prompt ?? [];
  return (before.findLast(({ role }) => role === "user") ?? before.at(-1))?.content ?? "";
}

/** What was asked, and every action, as it is packed. */
export function packedWords({ data }: Pick<PackedTrajectory, "data">): TrajectoryWords {
  const { turns } = fromExactJson(data) as PackedData;
  return { asked: askedIn(turns), actions: turns.map(({ action }) => action) };
}

/** Turns come back on shared conversations and token sequences, as an episode makes them. */
export function unpackTrajectory(packed: PackedTrajectory): Trajectory {
  const { turns, ...rest } = fromExactJson(packed.data) as PackedData;
  const read = tokenReader(packed);
  let said: Message[] = [];
  let sequence = growingIds(new Int32Array(0));

  const made = turns.map(({ keep, layout, prompt: added, ...turn }) => {
    if (keep < said.length) said = said.slice(0, keep);
    said.push(...added);
    const { length } = said;
    const place = { said, length, turn };
    said.push(turn.action);
    if (layout === undefined) return { ...place, tokens: undefined };
    const tokens = read(layout, (keep, added) => {
      const before = sequence.whole();
      if (keep < before.length) sequence = growingIds(before.subarray(0, keep));
      sequence.append(added);
      return sequence.whole();
    });
    return { ...place, tokens: { ...tokens, action: sequence.append(tokens.action) } };
  });
  const shared = onSharedSequences(made.map(({ tokens }) => tokens));
  return {
    ...rest,
    turns: made.map(({ said, length, turn }, k) => {
      const tokens = shared[k];
      return turnIn(said, length, { ...turn, ...(tokens && { tokens }) });
    }),
  };
}
