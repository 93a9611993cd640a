/** Trajectories as rows: words as JSON, token arrays as bytes, nothing lost, nothing that repeats written twice. */

import { concatIds } from "../common/tokens/pack.ts";
import { fromExactJson, toExactJson } from "../core/json.ts";
import type { Message, Trajectory, Turn } from "../core/types.ts";
import { commonPrefix, type TokenColumns, type TokenLayout, tokenReader, tokenWriter } from "./tokens.ts";

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
  let saidBefore: readonly string[] = [];
  let tokensBefore: Int32Array = new Int32Array(0);

  const turns = trajectory.turns.map((turn): PackedTurn => {
    const { prompt, tokens, ...rest } = turn;
    const said = prompt.map((message) => JSON.stringify(message));
    const keep = commonPrefix(said, saidBefore);
    saidBefore = [...said, JSON.stringify(turn.action)];
    const packed = { ...rest, keep, prompt: prompt.slice(keep) };
    if (tokens === undefined) return packed;
    const layout = writer.add(tokens, tokensBefore);
    tokensBefore = concatIds([tokens.prompt, tokens.action]);
    return { ...packed, layout };
  });

  const data: PackedData = { ...trajectory, turns };
  return { data: toExactJson(data), ...writer.columns() };
}

export function unpackTrajectory(packed: PackedTrajectory): Trajectory {
  const { turns, ...rest } = fromExactJson(packed.data) as PackedData;
  const read = tokenReader(packed);
  let saidBefore: readonly Message[] = [];
  let tokensBefore: Int32Array = new Int32Array(0);

  return {
    ...rest,
    turns: turns.map(({ keep, layout, prompt: added, ...turn }): Turn => {
      const prompt = [...saidBefore.slice(0, keep), ...added];
      saidBefore = [...prompt, turn.action];
      if (layout === undefined) return { ...turn, prompt };
      const tokens = read(layout, tokensBefore);
      tokensBefore = concatIds([tokens.prompt, tokens.action]);
      return { ...turn, prompt, tokens };
    }),
  };
}
