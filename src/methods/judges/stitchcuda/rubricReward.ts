import { type Able, type EvaluatorInRun, evaluatorIn } from "../../../core/evaluator.ts";
import type { Random } from "../../../core/random.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { type Stats, succeeded, type Trajectory } from "../../../core/types.ts";

/** What running a program told. */
export interface Executed {
  readonly compiled: boolean;
  /** It passed the tests. */
  readonly correct: boolean;
  /** log₂ of how many times faster it is than the program that was given, not than an earlier attempt. */
  readonly speedup: number;
}

/** Constants of {@link ruleReward} and {@link rubricReward}. */
export interface RubricConstants {
  /** c1, of a program that compiles and is wrong. */
  readonly wrong: number;
  /** c2, of one that is correct. */
  readonly correct: number;
  /** S, the largest log₂ speedup that pays. */
  readonly fastest: number;
  /** λ of a correct program, and of one that compiles. */
  readonly lambda: readonly [correct: number, wrong: number];
}

export const usualConstants: RubricConstants = { wrong: 0.1, correct: 0.5, fastest: 2, lambda: [0.5, 0.2] };

/** 0 where it does not compile, c1 where it is wrong, else c2 + clip(log₂ speedup, 0, S). */
export function ruleReward({ compiled, correct, speedup }: Executed, constants = usualConstants): number {
  if (!compiled) return 0;
  if (!correct) return constants.wrong;
  return constants.correct + Math.min(constants.fastest, Math.max(0, speedup));
}

/** λ: ½ of the rubric for a correct program, a fifth for one that compiles, nothing for one that does not. */
export function rubricWeight({ compiled, correct }: Executed, { lambda } = usualConstants): number {
  return !compiled ? 0 : correct ? lambda[0] : lambda[1];
}

/** Settings of {@link rubricReward}. */
export interface RubricRewardOptions {
  /** What running the attempt told; see {@link executedOf}. */
  readonly executed?: (t: Trajectory) => Executed;
  /** Scores in [0, 1] by criterion, of which the mean counts. None: rules alone. */
  readonly rubric?: Able<"score">;
  /** In [0, 1], below ½ for an attempt that gets round the requirement: it is worth 0 then. None: nothing is vetoed. */
  readonly veto?: Able<"score">;
  readonly constants?: RubricConstants;
}

/**
 * Rewards of programs: rules from running them, a rubric from a judge, and a veto.
 *
 *     R = R_rule + λ · mean over criteria of s_k           0 where the veto is below ½
 *
 * With the usual constants a wrong program has at most 0.3 and a correct one at least 0.5: no rubric lifts a wrong one above a correct one.
 * An attempt whose rubric fails gets no signal, since rules alone would pay it less than its siblings; nor does one whose veto fails, since it may be a fraud. On channel "outcome"; failed
 * episodes get none. Paper: "StitchCUDA: An Automated Multi-Agents End-to-End GPU Programing Framework with Rubric-based Agentic
 * Reinforcement Learning".
 */
export function rubricReward(options: RubricRewardOptions = {}): Feedback {
  const { executed = executedOf, rubric, veto, constants = usualConstants } = options;
  return async (ctx, { trajectories }) => {
    const [criteria, fraud] = [rubric, veto].map((by) => by && evaluatorIn(ctx, by));
    const value = async (t: Trajectory): Promise<number | undefined> => {
      const random = ctx.random.split("rubric", t.id);
      const honest = fraud ? meanOf(await asked(fraud, t, random.split("veto"))) : 1;
      if (honest === undefined || honest < 0.5) return honest === undefined ? undefined : 0;
      const told = executed(t);
      const weight = criteria ? rubricWeight(told, constants) : 0;
      const said = weight > 0 ? meanOf(await asked(criteria!, t, random)) : 0;
      return said === undefined ? undefined : ruleReward(told, constants) + weight * said;
    };
    const played = trajectories.filter((t) => t.end.kind !== "failed");
    const signals = played.map(async (t): Promise<readonly Signal[]> => {
      const paid = await value(t);
      if (paid === undefined) return [];
      return [
        { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value: paid, source: "rubric" },
      ];
    });
    return (await Promise.all(signals)).flat();
  };
}

const asked = (by: EvaluatorInRun, t: Trajectory, random: Random): Promise<Stats | undefined> =>
  by.score(t, random);
const meanOf = (scores: Stats | undefined): number | undefined => {
  const all = Object.values(scores ?? {});
  return all.length === 0 ? undefined : all.reduce((a, b) => a + b, 0) / all.length;
};

/**
 * By the rewards of the last turn: `compiled` and `correct` (1 or 0) and `speedup` (log₂). Where the environment has none of them, an attempt
 * that ended by itself compiled, and a success is correct.
 */
export function executedOf(t: Trajectory): Executed {
  const { compiled, correct, speedup = 0 } = t.turns.at(-1)?.rewards ?? {};
  return {
    compiled: compiled === undefined ? t.end.kind === "done" : compiled > 0,
    correct: correct === undefined ? succeeded(t) : correct > 0,
    speedup,
  };
}
