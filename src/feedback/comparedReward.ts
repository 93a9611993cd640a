import { z } from "zod";
import type { Ctx } from "../core/context.ts";
import { comparingScores } from "../core/evaluator.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";
import type { Trajectory } from "../core/types.ts";
import { type ComparisonsOptions, comparisons } from "./comparisons.ts";

/** A request and a reply. */
export interface Exchange {
  readonly asked: string;
  readonly replied: string;
}

/** A comparison that a reward model is fitted to; or one exchange alone, which it scores. */
export interface Compared {
  readonly first: Exchange;
  readonly second?: Exchange;
}

/** Settings of {@link comparedReward}. */
export interface ComparedRewardOptions extends ComparisonsOptions {
  /** What the reward model reads of a trajectory. Default: the last prompt message of its last turn, and the reply to it. */
  readonly exchangeOf?: (ctx: Ctx, trajectory: Trajectory) => Exchange;
  /** Name of the helper that is the reward model. Default "reward". */
  readonly helper?: string;
  /** Number of most recent comparisons that it is fitted to. Default 4000. */
  readonly keep?: number;
  /** Also gives it this iteration's pairs of attempts at one task without labels: rows with y null. Default false. */
  readonly unlabelled?: boolean;
  /** Default "reward". */
  readonly channel?: string;
}

/**
 * Scores every trajectory with a reward model that is learnt from comparisons. Each iteration some attempts are compared, as by
 * {@link comparisons}; where no evaluator is given, by the environment's judge of pairs, or by its rewards where it has no judge.
 * The model is fitted to all comparisons so far (y: probability that `first` is better), then it scores the new trajectories. The
 * run's memory keeps the comparisons. Failed episodes are neither compared nor scored; a prediction of NaN gives no signal.
 */
export function comparedReward(options: ComparedRewardOptions = {}): Feedback {
  const { exchangeOf = lastExchange, helper = "reward", keep = 4000, unlabelled = false } = options;
  const { channel = "reward", evaluator, pairs = "neighbours", label = "drawn" } = options;
  return async (ctx, experience, notes) => {
    const model = ctx.helper<Compared, number | null, number>(helper);
    const trajectories = experience.trajectories.filter((t) => t.end.kind !== "failed");
    const exchanges = new Map(trajectories.map((t) => [t.id, exchangeOf(ctx, t)]));
    const rewards = ctx.environment.compare ? {} : { evaluator: comparingScores(ctx.environment) };
    const compare = comparisons({ pairs, label, ...rewards, ...(evaluator && { evaluator }) });
    const now = (await compare(ctx, { ...experience, trajectories }, notes)).flatMap((signal) => {
      if (signal.kind !== "preference") return [];
      const [first, second] = signal.about.map(({ trajectory }) => exchanges.get(trajectory)!);
      const sure = signal.value ?? 1;
      return [{ first: first!, second: second!, y: signal.best === 0 ? sure : 1 - sure }];
    });
    const key = `comparedReward ${helper}`;
    const rows = [...kept.parse(ctx.memory.get(key) ?? []), ...now].slice(-keep);
    ctx.memory.set(
      key,
      rows.map(({ first, second, y }) => ({ first: { ...first }, second: { ...second }, y })),
    );
    const silent = unlabelled ? pairsWithin(trajectories) : [];
    await model.fit([
      ...rows.map(({ y, ...x }) => ({ x, y, weight: 1 })),
      ...silent.map(([a, b]) => ({
        x: { first: exchanges.get(a.id)!, second: exchanges.get(b.id)! },
        y: null,
        weight: 1,
      })),
    ]);
    const scores = await model.predict(trajectories.map(({ id }) => ({ first: exchanges.get(id)! })));
    return trajectories.flatMap(({ id }, i): Signal[] => {
      const value = scores[i]!;
      if (Number.isNaN(value)) return [];
      return [{ kind: "score", channel, about: [{ trajectory: id }], value, source: `helper:${helper}` }];
    });
  };
}

function lastExchange(_ctx: Ctx, { turns }: Trajectory): Exchange {
  const turn = turns.at(-1);
  return { asked: turn?.prompt.at(-1)?.content ?? "", replied: turn?.action.content ?? "" };
}

/** All pairs of attempts at one task. */
function pairsWithin(trajectories: readonly Trajectory[]): (readonly [Trajectory, Trajectory])[] {
  const groups = [...Map.groupBy(trajectories, ({ task }) => task).values()];
  return groups.flatMap((group) =>
    group.flatMap((t, i) => group.slice(i + 1).map((other) => [t, other] as const)),
  );
}

const exchange = z.object({ asked: z.string(), replied: z.string() });
/** Schema of the comparisons in the run's memory. */
const kept = z.array(z.object({ first: exchange, second: exchange, y: z.number() }));
