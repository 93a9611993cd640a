import type { Helper } from "../../../core/context.ts";
import { isObject, type Json, listOf } from "../../../core/json.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Task, Trajectory } from "../../../core/types.ts";

/** Traits of an item. */
type Traits = readonly number[];

/** Settings of {@link personalReward}. */
export interface PersonalRewardOptions {
  /** The helper that infers tastes, see `variationalPreference`. Default "taste". */
  readonly helper?: string;
  /** Known comparisons of the task's user, better first. Default: the task's metadata `votes`. */
  readonly votes?: (task: Task) => readonly (readonly [better: Traits, worse: Traits])[];
  /** Traits of a trajectory's offer; undefined without a valid one. Default: the entry of the metadata `items` for its last action. */
  readonly offered?: (t: Trajectory, task: Task) => Traits | undefined;
  /** Learn the tastes of the training tasks' users, instead of scoring. Default false. */
  readonly learn?: boolean;
  /** Default: named after the helper. */
  readonly channel?: string;
}

/**
 * The reward of a reply for its user: a helper infers the user's taste from a few comparisons and predicts the probability
 * that the offer is preferred to a random item, in [0, 1]. One score per trajectory; none for failed ones, for those
 * without an offer, or before training. While the helper learns there are no signals.
 * Paper: "Personalizing Reinforcement Learning from Human Feedback with Variational Preference Learning".
 */
export function personalReward(options: PersonalRewardOptions = {}): Feedback {
  const { helper: name = "taste", votes = knownVotes, offered = namedItem, learn = false } = options;
  const { channel = name } = options;
  return async (ctx, { trajectories }) => {
    const helper: Helper<
      { votes: ReturnType<typeof votes>; things: readonly Traits[] },
      null,
      readonly number[]
    > = ctx.helper(name);
    if (learn) {
      await helper.fit(
        ctx.tasks.map((task) => ({ x: { votes: votes(task), things: [] }, y: null, weight: 1 })),
      );
      return [];
    }
    const asked = trajectories.flatMap((t) => {
      const thing = t.end.kind === "failed" ? undefined : offered(t, ctx.task(t.task));
      return thing === undefined
        ? []
        : [{ id: t.id, x: { votes: votes(ctx.task(t.task)), things: [thing] } }];
    });
    const worth = await helper.predict(asked.map(({ x }) => x));
    return asked.flatMap(({ id }, i): Signal[] => {
      const value = worth[i]![0]!;
      if (Number.isNaN(value)) return [];
      return [{ kind: "score", channel, about: [{ trajectory: id }], value, source: `helper:${name}` }];
    });
  };
}

const numbers = (x: Json | undefined): Traits => listOf(x).map(Number);

const knownVotes = ({ metadata }: Task): readonly (readonly [Traits, Traits])[] =>
  listOf(metadata.votes).map((pair) => {
    const [better, worse] = listOf(pair);
    return [numbers(better), numbers(worse)] as const;
  });

function namedItem({ turns }: Trajectory, { metadata: { items } }: Task): Traits | undefined {
  const said = turns.at(-1)?.action.content.trim() ?? "";
  return isObject(items) && Object.hasOwn(items, said) ? numbers(items[said]) : undefined;
}
