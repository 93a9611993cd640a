import type { Helper } from "../core/context.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";
import type { Trajectory } from "../core/words.ts";

/** Settings of {@link predictedReaction}. */
export interface PredictedReactionOptions {
  /** The helper that predicts, see `reactionModel`. Default "reaction". */
  readonly helper?: string;
  /** What it sees of a trajectory. Default: the words of the last action, each at its share. */
  readonly features?: (t: Trajectory) => Readonly<Record<string, number>>;
  /**
   * Learn from this experience instead of judging it: whether a user reacted; undefined where nobody could have. Default:
   * nothing is learnt.
   */
  readonly learn?: (t: Trajectory) => boolean | undefined;
  /** How much a reply without a reaction counts beside one with it, in (0, 1]. Default 1. */
  readonly silence?: number;
  /** Default: named after the helper. */
  readonly channel?: string;
}

/**
 * How likely users are to react to a reply, by a helper that learnt it from a log: one score for each trajectory, a
 * probability. While it learns there are no signals. Failed episodes teach nothing and are not judged; a helper that has
 * seen no reaction yet says nothing, and nothing is said for it.
 * Paper: "Reinforcement Learning from User Feedback".
 */
export function predictedReaction(options: PredictedReactionOptions = {}): Feedback {
  const { helper: name = "reaction", features = lastWords, learn, silence = 1, channel = name } = options;
  return async (ctx, { trajectories }) => {
    const helper: Helper<Readonly<Record<string, number>>, number, number> = ctx.helper(name);
    const ended = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    if (learn) {
      const rows = ended.flatMap((t) => {
        const reacted = learn(t);
        if (reacted === undefined) return [];
        return [{ x: features(t), y: reacted ? 1 : 0, weight: reacted ? 1 : silence }];
      });
      await helper.fit(rows);
      return [];
    }
    const chances = await helper.predict(ended.map(features));
    return ended.flatMap(({ id }, i): Signal[] => {
      const value = chances[i]!;
      if (Number.isNaN(value)) return [];
      return [{ kind: "score", channel, about: [{ trajectory: id }], value, source: `helper:${name}` }];
    });
  };
}

/** Whether the environment's reward of that name says that a user reacted; undefined where it says nothing. */
export const reactedBy =
  (reward: string) =>
  ({ turns }: Trajectory): boolean | undefined => {
    const said = turns.flatMap(({ rewards }) => rewards[reward] ?? []);
    return said.length === 0 ? undefined : said.some((value) => value > 0);
  };

/** How often each word occurs in the last action, per word. */
export function lastWords({ turns }: Trajectory): Readonly<Record<string, number>> {
  const words = turns.at(-1)?.action.content.match(/\S+/g) ?? [];
  const out: Record<string, number> = {};
  for (const word of words) out[word] = (out[word] ?? 0) + 1 / words.length;
  return out;
}
