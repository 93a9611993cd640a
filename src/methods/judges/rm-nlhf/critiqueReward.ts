import type { Ctx } from "../../../core/context.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Task, type Trajectory } from "../../../core/types.ts";
import type { Features } from "../../../helper/ridge.ts";
import { wordGrams } from "../../../helper/wordGrams.ts";
import { argumentsIn, f1, matches } from "./argumentF1.ts";

/** Settings of {@link critiqueReward}. */
export interface CritiqueRewardOptions {
  /** λ, weight of the process reward. */
  readonly lambda: number;
  /** Whether it counts only where the verdict is right. Default false. */
  readonly gated?: boolean;
  /** The helper that predicts the process reward where no human critique exists: the meta reward model. None: R_proc is 0 there. */
  readonly meta?: string;
  /** The human critique of a task, where there is one. Default: `metadata.critique`. */
  readonly critiqueOf?: (task: Task) => string | undefined;
  /** Default {@link argumentsIn}. */
  readonly argumentsOf?: (text: string) => readonly string[];
  /** Least cosine of two arguments that match. Default 0.8. */
  readonly least?: number;
}

/**
 * Rewards a judge for its verdict and for the arguments of its critique:
 *
 *     R = R_out + λ · R_proc                          R_out = 1 for the right verdict, else 0
 *     R_proc = F1 of the critique's arguments against those of a human critique, matched by their embeddings
 *     gated:  R = R_out · (1 + λ · R_proc)
 *
 * Where there is no human critique, the meta reward model predicts R_proc from the words of the critique. It is fitted first, in every
 * iteration, to the F1 of this iteration's critiques that have a human one beside them, so that it follows the judge as that changes; its
 * predictions are kept within [0, 1]; where it has none, there is no reward. The critique is the attempt's last message. Channel "outcome"; failed episodes get none.
 * Paper: "Reward Modeling from Natural Language Human Feedback".
 */
export function critiqueReward(options: CritiqueRewardOptions): Feedback {
  const { lambda, gated = false, meta } = options;
  return async (ctx, { trajectories }) => {
    const played = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const known = await Promise.all(played.map((t) => processReward(ctx, t, options)));
    const helper = meta === undefined ? undefined : ctx.helper<Features, number, number>(meta);
    const rows = played.flatMap((t, i) =>
      known[i] === undefined ? [] : [{ x: featuresOf(t), y: known[i], weight: 1 }],
    );
    if (rows.length > 0) await helper?.fit(rows);
    const guessed = (await helper?.predict(played.map(featuresOf))) ?? [];
    return played.flatMap((t, i): readonly Signal[] => {
      const right = Number(succeeded(t));
      const process = known[i] ?? (helper ? guessed[i] : 0);
      if (process === undefined || !Number.isFinite(process)) return [];
      const value = gated ? right * (1 + lambda * process) : right + lambda * process;
      const about = [{ trajectory: t.id }];
      return [{ kind: "reward", channel: "outcome", about, value, source: "critique" }];
    });
  };
}

const written = ({ turns }: Trajectory): string => turns.at(-1)?.action.content ?? "";

/** The F1 against the task's human critique; undefined where it has none. */
async function processReward(
  ctx: Ctx,
  t: Trajectory,
  { critiqueOf = critiqueIn, argumentsOf = argumentsIn, least = 0.8 }: CritiqueRewardOptions,
): Promise<number | undefined> {
  const human = critiqueOf(ctx.task(t.task));
  if (human === undefined) return undefined;
  const [own, theirs] = [argumentsOf(written(t)), argumentsOf(human)];
  const vectors = await ctx.embed([...own, ...theirs]);
  const [mine, others] = [vectors.slice(0, own.length), vectors.slice(own.length)];
  const similar = mine.map((a) => others.map((b) => a.reduce((sum, x, k) => sum + x * b[k]!, 0)));
  return f1(matches(similar, least), own.length, theirs.length);
}

const critiqueIn = ({ metadata }: Task): string | undefined =>
  typeof metadata.critique === "string" ? metadata.critique : undefined;

/** The words of the critique, and their neighbours. */
const featuresOf = (t: Trajectory): Features => ({
  ...wordGrams(
    written(t)
      .split(/\s+/)
      .filter((word) => word !== ""),
  ),
  "": 1,
});
