/** A long walk past lamps and posts, with their balance as the only reward, at the end. */
import { randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { defineEnvironment, type Environment } from "../env/environment.ts";
import { machine } from "../env/machine.ts";

/** Settings of {@link lamps}. */
export interface LampsOptions {
  /** Steps of a walk. Default 30. */
  readonly steps?: number;
  /** Default 6. */
  readonly places?: number;
  /** Number of irrelevant words in the feedback on a step. Default 20. */
  readonly noise?: number;
  /** Standard deviation of the noise in the reported balance. Default 2. */
  readonly error?: number;
  /** Default 1. */
  readonly seed?: number;
}

const ways = ["left", "middle", "right"] as const;

/** Probabilities of a lamp and of a post, on the good way of a place and on other ways. */
const chances = { good: { light: 0.6, bump: 0.1 }, other: { light: 0.2, bump: 0.3 } };

interface State {
  readonly step: number;
  readonly place: number;
  readonly balance: number;
}

/**
 * At each step the agent sees a place and chooses a way; one way per place is good. Feedback text, which is not an
 * observation, describes the step in words: `light`, `bump` and irrelevant ones (each with probability 0.3). The next place
 * is drawn uniformly. Reward: `outcome`, lights minus bumps plus noise, at the end alone. Success: a true balance of at least
 * a fifth of the steps. Any other word is a bad way.
 */
export function lamps(options: LampsOptions = {}): Environment {
  const { steps = 30, places = 6, noise = 20, error = 2, seed = 1 } = options;
  const stream = randomStream(seed);
  const goodWay = (place: number): string => ways[stream.split("way", place).below(ways.length)]!;
  const murmurs = Array.from({ length: noise }, (_, n) => `n${n}`);
  const taskAt = (split: string, index: number): Task => {
    const own = stream.split(split, index);
    return {
      id: `lamps/${split}/${index}`,
      prompt: [{ role: "user", content: "walk" }],
      metadata: { place: own.below(places) },
      seed: own.seed,
    };
  };
  return defineEnvironment({
    name: "lamps",
    summary: "choose ways past lamps and posts; how many there were is only told at the end",
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: steps, actionTokens: 1 },
    vocabulary: () => [
      "walk place light bump",
      ...ways,
      ...murmurs,
      ...Array.from({ length: places }, (_, p) => `p${p}`),
    ],
    tasks: (split) =>
      split === "train" || split === "test" ? Array.from({ length: 16 }, (_, i) => taskAt(split, i)) : [],
    expert: (_task, conversation) => goodWay(Number(conversation.at(-1)?.content.slice("place p".length))),
    start: async (task, random) =>
      machine<State>(
        {
          see: ({ place }) => ({
            messages: [{ role: "user", content: `place p${place}` }],
            stateKey: `p${place}`,
            legal: ways,
          }),
          act: ({ step, place, balance }, action, turn) => {
            const { light, bump } = action === goodWay(place) ? chances.good : chances.other;
            const [lit, hit] = [turn.split("light").next() < light, turn.split("bump").next() < bump];
            const heard = murmurs.filter((word) => turn.split(word).next() < 0.3);
            const now = balance + Number(lit) - Number(hit);
            const over = step + 1 >= steps;
            return {
              next: { step: step + 1, place: turn.split("place").below(places), balance: now },
              text: [...(lit ? ["light"] : []), ...(hit ? ["bump"] : []), ...heard].join(" "),
              ...(over && {
                rewards: { outcome: now + error * turn.split("error").normal() },
                end: { kind: "done", reason: "arrived", success: now >= steps / 5 },
              }),
            };
          },
        },
        { step: 0, place: Number(task.metadata.place), balance: 0 },
        random,
      ),
    verify: async (_task, trajectory) => ({ outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}
