/** An artefact that is improved by edits and scored after each; choosing when to stop is part of the task. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Player, type Step } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Settings of {@link artefact}. */
export interface ArtefactOptions {
  /** Deviation of the scorer's error, in units of quality. Default 0. */
  readonly noise?: number;
  /** Quality to begin with, in tenths. Default 5. */
  readonly start?: number;
  /** Edits allowed. Default 12. */
  readonly edits?: number;
}

const actions = ["stop", "guided", "random"] as const;
const best = 10;
/** Quality, in tenths, from which an artefact counts as good. */
const good = 8;

interface State {
  /** Tenths. */
  readonly quality: number;
  /** The scorer's number, in tenths. */
  readonly seen: number;
  readonly edits: number;
}

/** Guided edits until the score is good, then an end. */
const expert: Player = (_task, conversation) => {
  const seen = Number(conversation.at(-1)?.content.split(" ")[1]);
  return seen >= good ? "stop" : "guided";
};

/**
 * Quality changes by a tenth per edit: a guided edit improves it with probability 0.75, a random one with probability
 * 1 − quality; otherwise the edit lowers it. A perfect artefact can only get worse. The agent sees the scorer's number.
 *
 * Rewards: `quality` the scorer's number after each edit, in [0, 1]; `outcome` the true quality once the episode is over;
 * `invalid` 1 where the reply is no action, which ends the episode. The score of the first state is the task's metadata.
 */
export function artefact(options: ArtefactOptions = {}): Environment {
  const { noise = 0, start = 5, edits: most = 12 } = options;
  const measured = (quality: number, random: Random): number =>
    Math.min(best, Math.max(0, Math.round(quality + noise * best * random.split("score").normal())));

  function edited(
    { quality, edits }: State,
    action: string,
    random: Random,
  ): Step & { readonly next: State } {
    const right = quality === best ? 0 : action === "guided" ? 0.75 : 1 - quality / best;
    const now = Math.max(0, quality + (random.split("edit").next() < right ? 1 : -1));
    const seen = measured(now, random);
    const last = edits + 1 >= most;
    return {
      next: { quality: now, seen, edits: edits + 1 },
      rewards: { quality: seen / best, ...(last && { outcome: now / best }) },
      ...(last && { end: { kind: "done", reason: "out of edits", success: now >= good } }),
    };
  }

  const taskAt = (split: string, index: number): Task => {
    const stream = randomStream("artefact").split(split, index);
    return {
      id: `artefact/${split}/${index}`,
      prompt: [{ role: "user", content: "improve it and stop in time" }],
      metadata: { quality: measured(start, stream) / best },
      seed: stream.seed,
    };
  };

  return defineEnvironment({
    name: "artefact",
    summary: "improve an artefact by edits that may harm it, and stop in time",
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: most, actionTokens: 1 },
    vocabulary: () => [
      "improve it and stop in time quality",
      ...actions,
      ...Array.from({ length: best + 1 }, (_, q) => `${q}`),
    ],
    tasks: (split) =>
      split === "train" || split === "test" ? Array.from({ length: 16 }, (_, i) => taskAt(split, i)) : [],
    expert,
    start: async (task, random) =>
      machine<State>(
        {
          see: ({ seen }) => ({
            messages: [{ role: "user", content: `quality ${seen}` }],
            stateKey: String(seen),
            legal: actions,
          }),
          act: (state, action, stream) => {
            if (action === "guided" || action === "random") return edited(state, action, stream);
            const stops = action === "stop";
            return {
              next: state,
              rewards: stops ? { outcome: state.quality / best } : { outcome: 0, invalid: 1 },
              end: {
                kind: "done",
                reason: stops ? "stopped" : "no such action",
                success: stops && state.quality >= good,
              },
            };
          },
        },
        { quality: start, seen: Math.round(Number(task.metadata.quality) * best), edits: 0 },
        random,
      ),
    verify: async (_task, trajectory) => ({ outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}
