import { conversation } from "../common/tokens/turns.ts";
import type { Annotate } from "../core/slots.ts";
import type { Trajectory, Turn } from "../core/types.ts";

/** Settings of {@link criticAdvantages}. */
export interface CriticAdvantagesOptions {
  /** The helper that holds the critic, see `expectileCritic`. Default "critic". */
  readonly critic?: string;
  /** Training passes over all turns of the experience. Default 60. */
  readonly passes?: number;
  /** Target of a turn. "bootstrap": its reward plus the critic's value of the next turn; "return": the discounted return. Default "bootstrap". */
  readonly backup?: "bootstrap" | "return";
  /** γ of the returns, in [0, 1]; a critic that bootstraps has its own. Default 0.99. */
  readonly discount?: number;
  /** Which of the environment's named rewards count. Default: all. */
  readonly rewards?: readonly string[];
  /** The critic's input for a turn. Default: the whole prompt, one message per line. */
  readonly observation?: (turn: Turn) => string;
  /** Name of the note. Default "advantage". */
  readonly note?: string;
}

/** Output of `expectileCritic`. */
interface Said {
  readonly observation: string;
  readonly utterance: string;
}
interface CameOf {
  readonly reward: number;
  readonly next: string | null;
}

/**
 * Fits a critic to an experience, then notes the advantage of every turn's utterance:
 *
 *     A(o, a) = Q(o, a) − V(o)
 *
 * The value after a cut is unknown: with bootstrapping, the last turn of a truncated or failed episode is no training
 * example; its advantage comes from what the critic learnt elsewhere. With "return", returns are the observed ones. The
 * critic keeps its parameters between iterations, and is fitted backwards from each episode's last turn, so that values
 * propagate far in one pass.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 */
export function criticAdvantages(options: CriticAdvantagesOptions = {}): Annotate {
  const { critic: name = "critic", passes = 60, observation = conversation, note = "advantage" } = options;
  return async (ctx, { trajectories }) => {
    const critic = ctx.helper<Said, CameOf, { readonly q: number; readonly v: number }>(name);
    const rows = trajectories.flatMap((t) => rowsOf(t, options));
    for (let pass = 0; pass < passes; pass++) await critic.fit(rows);
    const notes = await Promise.all(
      trajectories.map(async (t) => {
        const worths = await critic.predict(t.turns.map((turn) => repliesIn(turn, observation)));
        return [t.id, Float32Array.from(worths, ({ q, v }) => q - v)] as const;
      }),
    );
    return { [note]: new Map(notes) };
  };
}

const repliesIn = (turn: Turn, observation: (turn: Turn) => string): Said => ({
  observation: observation(turn),
  utterance: turn.action.content,
});

function rowsOf({ turns, end }: Trajectory, options: CriticAdvantagesOptions) {
  const { backup = "bootstrap", discount = 0.99, rewards, observation = conversation } = options;
  const paid = turns.map((turn) =>
    Object.entries(turn.rewards).reduce((sum, [of, r]) => sum + (rewards?.includes(of) === false ? 0 : r), 0),
  );
  const returns = [...paid];
  for (let k = turns.length - 2; k >= 0; k--) returns[k]! += discount * returns[k + 1]!;
  return turns
    .flatMap((turn, k) => {
      const next = turns[k + 1];
      if (backup === "bootstrap" && !next && end.kind !== "done") return [];
      const y: CameOf =
        backup === "return"
          ? { reward: returns[k]!, next: null }
          : { reward: paid[k]!, next: next ? observation(next) : null };
      return [{ x: repliesIn(turn, observation), y, weight: 1 }];
    })
    .reverse();
}
