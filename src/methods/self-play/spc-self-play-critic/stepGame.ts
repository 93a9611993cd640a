import type { Ctx } from "../../../core/context.ts";
import { evaluatorIn } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Message, type ModelId, succeeded, type Trajectory, type Unit } from "../../../core/types.ts";
import { selfCritique } from "../../../evaluator/selfCritique.ts";
import { verdictCritique } from "../../../evaluator/verdictCritique.ts";

/** What the sneaky generator is asked, after a right step. */
export const sneakyQuestion = "Write this step again with one mistake that is hard to notice .";

/** Whether the rewritten step k is truly an error, and step k of the attempt truly right. */
export type IsError = (ctx: Ctx, attempt: Trajectory, k: number, rewritten: Trajectory) => Promise<boolean>;

/** Settings of {@link stepGame}. */
export interface StepGameOptions {
  readonly isError: IsError;
  /** The model that writes errors. Default "sneaky". */
  readonly sneaky?: ModelId;
  /** The model that judges steps. Default "policy". */
  readonly critic?: ModelId;
  /** Longest rewritten step, in tokens. Default 64. */
  readonly maxTokens?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Examples of both roles' tasks that are imitated beside the games, as trajectories of the origin "demonstrated". Default: none. */
  readonly examples?: (ctx: Ctx) => Promise<readonly Trajectory[]>;
}

/**
 * A game about single steps of a solver's attempts. In every attempt that succeeds, one step, drawn at random, is rewritten by a sneaky
 * generator so that it is wrong, and a critic says of a step whether it is RIGHT or WRONG.
 *
 *     the rewritten step is an error      detected: critic +1, sneaky −1         fooled: critic −1, sneaky +1
 *     it is none                          sneaky −1; the critic is not asked
 *     the step as it was                  critic +1 for RIGHT, −1 for WRONG; asked once for each error, so that both classes are equally many
 *
 * No verdict is a wrong one. The solver's attempts are in no unit; each player's text is one of its own, in a group by role. Rewards are
 * called `verdict` and `fooled`. Stats, shares: valid, of rewritten steps that are errors; recall, of errors that are detected; specificity, of right steps that are
 * called so.
 * Paper: "SPC: Evolving Self-Play Critic via Adversarial Games for LLM Reasoning".
 */
export function stepGame(solver: Rollout, options: StepGameOptions): Rollout {
  return async (ctx) => {
    const first = await solver(ctx);
    const solved = first.trajectories.filter((t) => succeeded(t) && t.turns.length > 0);
    const games = await Promise.all(solved.map((attempt) => game(ctx, attempt, options)));
    const played = games.filter((one) => one !== undefined);
    const judged = played.flatMap(({ verdicts }) => verdicts);
    const examples = (await options.examples?.(ctx)) ?? [];
    const texts = [...played.map(({ sneaky }) => sneaky), ...judged.map(({ critique }) => critique)];
    const units = [...texts, ...examples].map((t): Unit => ({ id: t.id, group: t.role, members: [t.id] }));
    const share = (name: string, all: readonly boolean[]): Record<string, number> =>
      all.length === 0 ? {} : { [name]: all.filter(Boolean).length / all.length };
    const right = (isWrong: boolean): boolean[] =>
      judged.filter((one) => one.isWrong === isWrong).map((one) => one.isTrue);
    return {
      trajectories: [...first.trajectories, ...texts, ...examples],
      units,
      stats: {
        ...first.stats,
        ...share(
          "valid",
          played.map(({ verdicts }) => verdicts.length > 0),
        ),
        ...share("recall", right(true)),
        ...share("specificity", right(false)),
      },
    };
  };
}

/** What the critic said of a step. */
interface Verdict {
  readonly critique: Trajectory;
  readonly isWrong: boolean;
  readonly isTrue: boolean;
}

/** One game, with both players' texts and their rewards; undefined where the sneaky generator wrote nothing. */
async function game(ctx: Ctx, attempt: Trajectory, options: StepGameOptions) {
  const { isError, sneaky = "sneaky", maxTokens = 64, temperature = 1 } = options;
  const random = ctx.random.split("game", attempt.id);
  const k = random.split("step").below(attempt.turns.length);
  const before = { ...attempt, turns: attempt.turns.slice(0, k + 1) };
  const writer = selfCritique({
    ...{ model: sneaky, question: sneakyQuestion, maxTokens, temperature },
    read: (text) => ({ text }),
  });
  const written = (await evaluatorIn(ctx, writer).critique(before, random.split("sneaky")))?.written;
  if (!written) return undefined;
  const rewritten = withStep(before, k, written.turns[0]!.action.content);
  const own = { ...written, id: `${attempt.id}/sneaky`, role: "sneaky" };
  if (!(await isError(ctx, attempt, k, rewritten)))
    return { sneaky: paidFor(own, { fooled: -1 }), verdicts: [] };
  const verdicts = [
    await judged(ctx, rewritten, { isWrong: true, name: "error", options }),
    await judged(ctx, before, { isWrong: false, name: "right", options }),
  ].filter((one) => one !== undefined);
  const found = verdicts.find(({ isWrong }) => isWrong);
  return { sneaky: paidFor(own, { fooled: found?.isTrue === false ? 1 : -1 }), verdicts };
}

/** The critic's verdict on the last step of an attempt. */
async function judged(
  ctx: Ctx,
  attempt: Trajectory,
  { isWrong, name, options }: { isWrong: boolean; name: string; options: StepGameOptions },
): Promise<Verdict | undefined> {
  const { critic = "policy", temperature = 1 } = options;
  const judge = evaluatorIn(ctx, verdictCritique({ model: critic, temperature }));
  const said = await judge.critique(attempt, ctx.random.split("verdict", attempt.id, name));
  if (!said?.written) return undefined;
  const isTrue = said.outcome === (isWrong ? "failure" : "success");
  const own = { ...said.written, id: `${attempt.id}/verdict ${name}`, role: "critic" };
  return { critique: paidFor(own, { verdict: isTrue ? 1 : -1 }), isWrong, isTrue };
}

const paidFor = (t: Trajectory, rewards: Readonly<Record<string, number>>): Trajectory => ({
  ...t,
  turns: t.turns.map((turn) => ({ ...turn, rewards })),
});

/** An attempt up to step k, with another text there. It has no tokens, so that it is read and replayed as text. */
export function withStep({ turns, ...attempt }: Trajectory, k: number, content: string): Trajectory {
  const { tokens: _, ...step } = turns[k]!;
  const action: Message = { role: "assistant", content };
  return { ...attempt, turns: [...turns.slice(0, k), { ...step, action }] };
}
