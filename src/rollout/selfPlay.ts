import type { Ctx } from "../core/context.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Rollout } from "../core/slots.ts";
import type { Id, ModelId, Role, Trajectory } from "../core/types.ts";
import { drawSelf, keepSelf, noteGames, type PoolOptions } from "./opponentPool.ts";
import { payoffsOf, wonBy } from "./payoffs.ts";

/** Settings of {@link selfPlay}. */
export interface SelfPlayOptions {
  /** Games of each training task. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Restricts moves to the legal ones; see `Play.constrained`. Default: unrestricted. */
  readonly constrained?: boolean;
  /** Share of the tasks that are played against an earlier self, in [0, 1]; needs `pool`. Default 0. */
  readonly past?: number;
  readonly pool?: PoolOptions;
  /**
   * Share of the tasks that are played against an exploiter, in [0, 1]: a model of the run that learns from those games alone, and so
   * looks for what beats the policy. Needs `exploiters`. With `past` at most 1. Default 0.
   */
  readonly exploited?: number;
  /** The exploiters among the run's models; tasks are dealt to them in turn. */
  readonly exploiters?: readonly ModelId[];
}

/** Who plays the games of a task: the policy in every role, or in one role against somebody. */
type Pairing =
  | { readonly kind: "self" }
  | { readonly kind: "past" | "exploiter"; readonly rival: ModelId; readonly seat: Role };

/**
 * Plays every training task `groupSize` times: the policy against itself, against an earlier self or against an exploiter. The
 * pairing and the policy's role are drawn for each task, so that all games of a task are comparable. Units are the trajectories of
 * models that learn, one each, grouped by task, role and model: each role has a baseline of its own. Earlier selves are in no unit.
 *
 * Stats: `past.won`, the policy's share of wins against earlier selves, and `exploiter.won`, the exploiters' against the policy; a
 * game is won by a higher payoff than the other roles' mean, and a draw is half a win. A role that never came to act counts as in
 * {@link payoffsOf}.
 * Papers: "Fictitious Self-Play in Extensive-Form Games"; prioritised draws and exploiters: "Grandmaster Level in StarCraft II Using
 * Multi-Agent Reinforcement Learning".
 */
export function selfPlay(options: SelfPlayOptions = {}): Rollout {
  const { groupSize = 8, temperature, constrained, pool } = options;
  requireShares(options);
  return async (ctx) => {
    requireRoles(ctx);
    if (pool) await keepSelf(ctx, pool);
    const games = ctx.tasks.flatMap((task, place) => {
      const pairing = pairingOf(options, ctx, task.id, place);
      return Array.from({ length: groupSize }, async (_, attempt) => ({
        pairing,
        played: await ctx.play({
          task: task.id,
          attempt,
          together: groupSize,
          models: modelsOf(ctx, pairing),
          ...(temperature === undefined ? {} : { temperature }),
          ...(constrained ? { constrained } : {}),
        }),
      }));
    });
    const all = await Promise.all(games);
    const ended = all.filter(({ played }) => played.every((t) => t.end.kind !== "failed"));
    const scores = ended.flatMap(({ pairing, played }) =>
      pairing.kind === "self" ? [] : [{ ...pairing, won: wonBy(payoffsOf(played, pairing.seat)) }],
    );
    const past = scores.filter(({ kind }) => kind === "past");
    noteGames(
      ctx,
      past.map(({ rival, won }) => ({ name: rival, won })),
    );
    const exploiting = scores.filter(({ kind }) => kind === "exploiter").map(({ won }) => 1 - won);
    return {
      trajectories: all.flatMap(({ played }) => played),
      units: ended.flatMap(({ pairing, played }) =>
        played
          .filter((t) => learns(t, pairing))
          .map((t) => ({ id: t.id, group: groupOf(t), members: [t.id] })),
      ),
      stats: {
        ...(past.length > 0 && { "past.won": meanOf(past.map(({ won }) => won)) }),
        ...(exploiting.length > 0 && { "exploiter.won": meanOf(exploiting) }),
      },
    };
  };
}

const meanOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;

const groupOf = ({ task, role, turns }: Trajectory): Id => `${task}/${role}/${turns[0]!.model}`;

/** Frozen opponents do not learn. */
const learns = ({ turns }: Trajectory, { kind }: Pairing): boolean =>
  turns.length > 0 && (kind !== "past" || turns[0]!.model === "policy");

function pairingOf(options: SelfPlayOptions, ctx: Ctx, task: Id, place: number): Pairing {
  const { past = 0, exploited = 0, exploiters = [], pool } = options;
  const random = ctx.random.split("pairing", task);
  const drawn = random.next();
  const seat = ctx.roles[random.below(ctx.roles.length)]!;
  if (pool && drawn < past) return { kind: "past", rival: drawSelf(ctx, pool, task), seat };
  if (exploiters.length > 0 && drawn < past + exploited)
    return { kind: "exploiter", rival: exploiters[place % exploiters.length]!, seat };
  return { kind: "self" };
}

const modelsOf = ({ roles }: Pick<Ctx, "roles">, pairing: Pairing): Readonly<Record<Role, ModelId>> =>
  Object.fromEntries(
    roles.map((role) => [role, pairing.kind === "self" || role === pairing.seat ? "policy" : pairing.rival]),
  );

/** Shares above 1 in all would silently leave the exploiters less than was asked for. */
function requireShares({ past = 0, exploited = 0, exploiters = [], pool }: SelfPlayOptions): void {
  const all = (pool ? past : 0) + (exploiters.length > 0 ? exploited : 0);
  if (all <= 1 + 1e-9) return;
  throw new WhetstoneError("option.range", {
    where: "self-play",
    got: `past ${past} and exploited ${exploited}`,
    expected: "shares of the tasks that come to at most 1 together",
    fix: `Lower one of them: with past ${past}, exploited can be ${Number((1 - past).toPrecision(6))} at most.`,
  });
}

function requireRoles({ roles }: Pick<Ctx, "roles">): void {
  if (roles.length > 1) return;
  throw new WhetstoneError("capability.missing", {
    where: "self-play",
    got: `an environment in which only the role "${roles[0]}" acts`,
    expected: "an environment with two roles or more",
    fix: "Choose a game, such as kuhn-poker, or another method.",
  });
}
