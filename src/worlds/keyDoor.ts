/** A corridor with a key at one end and a door at the other: a long delay between the useful action and the reward. */
import { randomStream } from "../core/random.ts";
import { succeeded, type Task } from "../core/types.ts";
import { critiqueWords, templated, wholeAction } from "../env/critiques.ts";
import { defineEnvironment, type Environment } from "../env/environment.ts";
import { machine } from "../env/machine.ts";

/** Settings of {@link keyDoor}. */
export interface KeyDoorOptions {
  /** Length of the corridor, 2 to 10. The key lies in cell 0, the door is in the last; begins in cell 1. Default 4. */
  readonly cells?: number;
  /** Default 10. */
  readonly turns?: number;
}

const actions = ["left", "right", "pick", "open", "wave", "sing"] as const;

interface State {
  readonly cell: number;
  readonly key: boolean;
  readonly turn: number;
}

/** The optimal action for an observation, e.g. "cell 1 key no" in a corridor of 4 cells. */
export function rightAction(seen: string, cells = 4): (typeof actions)[number] {
  const [, cell, , key] = seen.split(" ");
  if (key === "yes") return Number(cell) === cells - 1 ? "open" : "right";
  return Number(cell) === 0 ? "pick" : "left";
}

/** The state after an action; undefined where the action has no effect. */
function moved(
  { cell, key }: State,
  action: string,
  cells: number,
): Omit<State, "turn"> | "opened" | undefined {
  if (action === "left" && cell > 0) return { cell: cell - 1, key };
  if (action === "right" && cell < cells - 1) return { cell: cell + 1, key };
  if (action === "pick" && cell === 0 && !key) return { cell, key: true };
  if (action === "open" && cell === cells - 1 && key) return "opened";
  return undefined;
}

/**
 * Opening the door with the key pays 1 and ends the episode. Waving and singing have no effect, nor do actions that are
 * impossible in the current cell. Rewards: `executable` 1 or 0 for whether the action had an effect, `outcome` 1 or 0 at the
 * end. Deterministic.
 */
export function keyDoor({ cells = 4, turns = 10 }: KeyDoorOptions = {}): Environment {
  const taskAt = (split: string, index: number): Task => ({
    id: `key-door/${split}/${index}`,
    prompt: [{ role: "user", content: "open the door" }],
    metadata: {},
    seed: randomStream("key-door").split(split, index).seed,
  });
  return defineEnvironment({
    name: "key-door",
    summary: "fetch the key at one end of a corridor and open the door at the other",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [
      "open the door cell key yes no",
      ...actions,
      ...Array.from({ length: cells }, (_, c) => `${c}`),
    ],
    tasks: (split) =>
      split === "train" || split === "test" ? Array.from({ length: 16 }, (_, i) => taskAt(split, i)) : [],
    expert: (_task, conversation) => rightAction(conversation.at(-1)?.content ?? "", cells),
    start: async (_task, random) =>
      machine<State>(
        {
          see: ({ cell, key }) => {
            const seen = `cell ${cell} key ${key ? "yes" : "no"}`;
            return { messages: [{ role: "user", content: seen }], stateKey: seen, legal: actions };
          },
          act: (state, action) => {
            const to = moved(state, action, cells);
            const executable = to === undefined ? 0 : 1;
            const turn = state.turn + 1;
            if (to === "opened") {
              const end = { kind: "done", reason: "opened", success: true } as const;
              return { next: state, rewards: { executable, outcome: 1 }, end };
            }
            const next = { ...(to ?? state), turn };
            return turn < turns
              ? { next, rewards: { executable } }
              : {
                  next,
                  rewards: { executable, outcome: 0 },
                  end: { kind: "truncated", limit: "turns", at: turns },
                };
          },
        },
        { cell: 1, key: false, turn: 0 },
        random,
      ),
    critiqueVocabulary: () => critiqueWords(turns),
    async critique(_task, trajectory, request) {
      const parts = trajectory.turns.map(({ action, stateKey = "" }, k) => {
        const better = rightAction(stateKey, cells);
        const said = action.content.trim();
        const worse = actions.filter((other) => other !== better && other !== said);
        return {
          ...wholeAction(k, action.content),
          good: said === better,
          name: `step ${k + 1}`,
          better,
          worse,
        };
      });
      const arrived = parts.every(({ good }) => good) ? "success" : "inefficient";
      return templated({ outcome: succeeded(trajectory) ? arrived : "failure", parts }, request);
    },
    verify: async (_task, trajectory) => ({ outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}
