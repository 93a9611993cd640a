import type { Ctx } from "../../../core/context.ts";
import { evaluatorIn } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { ModelId, Task, Trajectory, Unit } from "../../../core/types.ts";
import { selfCritique } from "../../../evaluator/selfCritique.ts";

/**
 * Decides one check of one attempt, from outside the game: "passed", "violated", or "invalid" where it is no check of this attempt at all.
 * Undefined where it failed.
 */
export type Validate = (
  ctx: Ctx,
  task: Task,
  attempt: Trajectory,
  check: string,
) => Promise<"passed" | "violated" | "invalid" | undefined>;

/** What the critic is asked about an attempt. */
export const checkQuestion = "Name the one check that this answer is most likely to fail .";

/** Settings of {@link adversary}. */
export interface AdversaryOptions {
  readonly validate: Validate;
  /** N, checks that are named for each attempt. Default 2. */
  readonly checks?: number;
  /** The model that names them. Default "critic". */
  readonly critic?: ModelId;
  /** Longest check, in tokens. Default 32. */
  readonly maxTokens?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * A critic against the generator: it reads each attempt of a rollout and names checks that it may fail, which a validator decides, one call
 * for each.
 *
 *     R_ij = 0 where check j of attempt i is valid and violated, else 1
 *     survived_i = min over j of R_ij          caught_ij = 1 − R_ij
 *
 * An invalid check counts as passed, so that inventing checks wins nothing. Attempts get the reward `survived` beside those that the
 * environment paid, checks the reward `caught`. Attempts keep their group; the checks of an attempt are one, or all first checks of a task's
 * attempts where N = 1, since one alone has nothing to be compared with. A check that could not be written or validated is left out, and an
 * attempt without any has no unit. Counts verifier.calls.
 *
 * Stats: caught, share of valid and violated checks; invalid, share of checks that were none.
 * Paper: "RLAC: Reinforcement Learning with Adversarial Critic for Free-Form Generation Tasks".
 */
export function adversary(rollout: Rollout, options: AdversaryOptions): Rollout {
  const { checks = 2 } = options;
  return async (ctx) => {
    const first = await rollout(ctx);
    const groups = new Map(first.units.flatMap(({ group, members }) => members.map((id) => [id, group])));
    const attempts = first.trajectories.filter(({ id }) => groups.has(id));
    const seen = await Promise.all(
      attempts.map(async (attempt) => {
        const named = Array.from({ length: checks }, (_, j) => checked(ctx, attempt, j, options));
        return { attempt, found: (await Promise.all(named)).filter((one) => one !== undefined) };
      }),
    );
    const decided = seen.filter(({ found }) => found.length > 0);
    const units = decided.flatMap(({ attempt: { id, task }, found }): Unit[] => [
      { id, group: groups.get(id)!, members: [id] },
      ...found.map(({ check }) => ({
        id: check.id,
        group: checks > 1 ? `${id}/checks` : `${task}/checks`,
        members: [check.id],
      })),
    ]);
    const survived = new Map(
      decided.map(({ attempt, found }) => [
        attempt.id,
        found.some(({ kind }) => kind === "violated") ? 0 : 1,
      ]),
    );
    const all = decided.flatMap(({ found }) => found);
    const share = (kind: string): number => all.filter((one) => one.kind === kind).length / all.length;
    return {
      ...first,
      trajectories: [
        ...first.trajectories.map((t) => rewarded(t, "survived", survived.get(t.id))),
        ...all.map(({ check, kind }) => rewarded(check, "caught", Number(kind === "violated"))),
      ],
      units,
      stats: {
        ...first.stats,
        ...(all.length > 0 && { caught: share("violated"), invalid: share("invalid") }),
      },
    };
  };
}

/** The j-th check of an attempt and what the validator says of it. */
async function checked(
  ctx: Ctx,
  attempt: Trajectory,
  j: number,
  { validate, critic = "critic", maxTokens = 32, temperature = 1 }: AdversaryOptions,
) {
  const writer = selfCritique({
    model: critic,
    question: checkQuestion,
    maxTokens,
    temperature,
    read: (text) => ({ text }),
  });
  const said = await evaluatorIn(ctx, writer).critique(attempt, ctx.random.split("check", attempt.id, j));
  if (!said?.written) return undefined;
  ctx.count("verifier.calls", 1);
  const kind = await validate(ctx, ctx.task(attempt.task), attempt, said.text.trim());
  return kind && { kind, check: { ...said.written, id: `${attempt.id}/check ${j}` } };
}

/** A trajectory with one more reward at its last turn. */
const rewarded = (t: Trajectory, name: string, value: number | undefined): Trajectory =>
  value === undefined
    ? t
    : {
        ...t,
        turns: t.turns.map((turn, k) =>
          k === t.turns.length - 1 ? { ...turn, rewards: { ...turn.rewards, [name]: value } } : turn,
        ),
      };
