/** A corridor whose doors give a small reward at once, while the end gives ten times as much. */
import type { Task } from "../../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../../../env/environment.ts";

/** Settings of {@link doors}. */
export interface DoorsOptions {
  /** Number of training corridors, each with its own cells; as many others are held out. Default 4. */
  readonly corridors?: number;
  /** Cells up to the end. Default 10. */
  readonly cells?: number;
  /** Distance between doors, in cells. Default 2. */
  readonly every?: number;
  /** Default 15. */
  readonly turns?: number;
}

/** Reward of leaving by a door, and of the end. */
const pays = { door: 0.1, end: 1 } as const;

/** The word of a cell. */
export const cellOf = (corridor: number, cell: number): string => `c${corridor}.${cell}`;

/**
 * Each cell is observed as a word, `c0.3`. "on" moves one cell further. "out" leaves by a door if there is one; elsewhere
 * it wastes a turn, as any other action does. Success: reaching the end within the turn limit.
 */
export function doors(options: DoorsOptions = {}): Environment {
  const { corridors = 4, cells = 10, every = 2, turns = 15 } = options;
  const splits = ["train", "test"];
  const taskAt = (split: string, index: number): Task => {
    const corridor = split === "train" ? index : corridors + index;
    return {
      id: `doors/${split}/${index}`,
      prompt: [{ role: "user", content: cellOf(corridor, 0) }],
      metadata: { corridor },
      seed: corridor,
    };
  };
  const start = (task: Task): Episode => {
    let cell = 0;
    let turn = 0;
    let ended = false;
    const here = (): string => cellOf(Number(task.metadata.corridor), cell);
    return {
      async observe() {
        const messages = turn === 0 ? [] : [{ role: "user" as const, content: here() }];
        return { role: "agent", observation: { messages, stateKey: here(), legal: ["on", "out"] } };
      },
      async act({ content }): Promise<Step> {
        if (ended) return alreadyOver;
        turn++;
        const said = content.trim();
        if (said === "out" && isDoor(cell, every)) {
          ended = true;
          return { rewards: { outcome: pays.door }, end: { kind: "done", reason: "left", success: false } };
        }
        if (said === "on") cell++;
        if (cell < cells && turn < turns) return { rewards: { outcome: 0 } };
        ended = true;
        if (cell < cells)
          return { rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turn } };
        return { rewards: { outcome: pays.end }, end: { kind: "done", reason: "arrived", success: true } };
      },
    };
  };
  return defineEnvironment({
    name: "doors",
    summary: "walk a corridor to its end, past doors that pay a little at once",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [
      "on",
      "out",
      ...Array.from({ length: 2 * corridors }, (_, c) =>
        Array.from({ length: cells }, (_unused, k) => cellOf(c, k)).join(" "),
      ),
    ],
    tasks: (split) =>
      splits.includes(split) ? Array.from({ length: corridors }, (_, i) => taskAt(split, i)) : [],
    start: async (task) => start(task),
    expert: () => "on",
    async verify(_task, { turns: played }) {
      return { outcome: played.reduce((sum, turn) => sum + (turn.rewards.outcome ?? 0), 0) };
    },
  });
}

/** Whether a cell has a door. The first has none. */
export const isDoor = (cell: number, every: number): boolean => cell > 0 && cell % every === 0;
