/** An episode as the page shows it: what was said, and what each token of a reply was credited with. */
import type { Codec } from "../../../src/core/model.ts";
import type { Trajectory } from "../../../src/core/types.ts";

export interface PlayedTurn {
  /** What the agent saw before it acted: the last message. */
  readonly seen: string;
  /** The reply's tokens as texts, with the advantage of each. */
  readonly pieces: readonly string[];
  readonly advantages: readonly number[];
}

export interface Played {
  readonly task: string;
  readonly success: boolean;
  readonly reward: number;
  readonly turns: readonly PlayedTurn[];
}

/** @param advantages of all action tokens of the trajectory, in order; none where it was left out of the update. */
export function played(t: Trajectory, advantages: Float32Array | undefined, codec: Codec): Played {
  let at = 0;
  const turns = t.turns.map(({ prompt, tokens }): PlayedTurn => {
    const ids = [...(tokens?.action ?? [])];
    const from = at;
    at += ids.length;
    return {
      seen: prompt.at(-1)?.content ?? "",
      pieces: ids.map((id) => codec.decode(Int32Array.of(id)) || "⏎"),
      advantages: ids.map((_, k) => advantages?.[from + k] ?? 0),
    };
  });
  const paid = t.turns.flatMap(({ rewards }) => Object.values(rewards));
  return { task: t.task, success: t.end.kind === "done", reward: paid.reduce((a, b) => a + b, 0), turns };
}
