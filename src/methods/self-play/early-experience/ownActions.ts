import type { Row } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Trajectory, Turn, Unit } from "../../../core/types.ts";
import { demonstratedRows } from "../../../rollout/addedRows.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";

/** What the policy did in place of an expert, and what it saw then. */
export interface OwnAction {
  /** Turn of the expert's episode. */
  readonly turn: number;
  readonly action: string;
  readonly seen: string;
}

/** Settings of {@link ownActions}. */
export interface OwnActionsOptions {
  /**
   * "world": the policy learns to say what its own actions lead to, and then imitates the expert. "reflection": it imitates the expert, and also what
   * {@link reflection} says of the expert's action and its own.
   */
  readonly learn: "world" | "reflection";
  /** K: own actions that are tried at each turn of the expert. */
  readonly alternatives: number;
  /** With "world": share of the planned iterations, in [0, 1], before imitation begins. */
  readonly share: number;
  /** With "reflection": what is written before the expert's action, and that action. Default {@link reflection}. */
  readonly reflect?: (own: OwnAction, expert: string) => string;
  /** Default 1. */
  readonly temperature?: number;
}

/** What the policy is asked about an action of its own. */
export const worldQuestion = (action: string): string => `What is seen after ${action} ?`;

/** Why the expert's action is better: what the own one led to, and the expert's action at the end, which the environment reads. */
export const reflection = ({ action, seen }: OwnAction, expert: string): string =>
  `after ${action} : ${seen} so ${expert}`;

/**
 * Demonstrations, and what the policy's own actions lead to where the expert acted. At every state s_i of a demonstration it samples K actions and the
 * environment is asked for the next observation, once for each task; no reward is read:
 *
 *     D = {(s_i, a_i^j, s_i^j)},   a_i^j ~ π(· | s_i) distinct and unlike the expert's a_i,   s_i^j ~ T(s_i, a_i^j)
 *     "world":        rows −ln p(s_i^j | s_i, a_i^j) in the first `share` of the iterations, and the demonstrations in the rest
 *     "reflection":   rows −ln p(c_i^j, a_i | s_i) beside the demonstrations,   c: {@link reflection}
 *
 * Rows have the origin "demonstrated", and targets are the observation's tokens, or those of reasoning and action. An own action that ends the episode shows
 * nothing and gives no row. The environment must be able to replay. Units: the demonstrations that are imitated.
 * Stats: `own`, own actions with an observation for each turn of the experts.
 * Paper: "Agent Learning via Early Experience".
 */
export function ownActions(options: OwnActionsOptions): Rollout {
  return async (ctx) => {
    const shown = await demonstrated()(ctx);
    const { iteration, iterations = 1 } = ctx.clock;
    const modelling = options.learn === "world" && iteration < options.share * iterations;
    if (options.learn === "world" && !modelling) return shown;
    const whole = shown.trajectories.filter(({ end, turns }) => end.kind !== "failed" && turns.length > 0);
    const tried = await Promise.all(whole.map(async (t) => ({ t, own: await triedAt(ctx, t, options) })));
    const rows = tried.flatMap(({ t, own }) => own.flatMap((one) => rowsOf(ctx, t, one, options)));
    const turns = whole.reduce((sum, t) => sum + t.turns.length, 0);
    const count = tried.reduce((sum, { own }) => sum + own.length, 0);
    return {
      trajectories: shown.trajectories,
      units: modelling ? [] : shown.units,
      rows,
      stats: { own: count / Math.max(1, turns) },
    };
  };
}

/** What was tried where this expert acted: remembered by task, since it is tried once. */
async function triedAt(
  ctx: Ctx,
  expert: Trajectory,
  { alternatives, temperature }: OwnActionsOptions,
): Promise<readonly OwnAction[]> {
  const key = `own actions/${expert.task}/${expert.role}`;
  const known = ctx.memory.get(key);
  if (known !== undefined) return known as unknown as readonly OwnAction[];
  const plays = expert.turns.flatMap((_, turn) =>
    Array.from({ length: alternatives }, async (_unused, j): Promise<OwnAction[]> => {
      const played = await ctx.play({
        task: expert.task,
        attempt: turn * alternatives + j,
        from: { trajectory: expert, turn, why: "branch" },
        constrained: true,
        limits: { turns: turn + 2 },
        ...(temperature !== undefined && { temperature }),
      });
      const own = played.find(({ role }) => role === expert.role);
      const [acted, next] = [own?.turns[turn], own?.turns[turn + 1]];
      if (!acted || !next) return [];
      return [{ turn, action: acted.action.content.trim(), seen: next.prompt.at(-1)!.content }];
    }),
  );
  const distinct = new Map(
    (await Promise.all(plays))
      .flat()
      .filter(({ turn, action }) => action !== expert.turns[turn]!.action.content.trim())
      .map((one) => [`${one.turn} ${one.action}`, one]),
  );
  const own = [...distinct.values()];
  ctx.memory.set(key, own as unknown as Json);
  return own;
}

function rowsOf(
  ctx: Ctx,
  t: Trajectory,
  one: OwnAction,
  { learn, reflect = reflection }: OwnActionsOptions,
): readonly Row[] {
  const { codec, contextTokens } = ctx.model();
  const turn: Turn = t.turns[one.turn]!;
  const unit: Unit = { id: t.id, group: t.task, members: [t.id] };
  const asked = { role: "user", content: worldQuestion(one.action) } as const;
  const [prompt, said] =
    learn === "world"
      ? [codec.open([...turn.prompt, asked]), one.seen]
      : [codec.open(turn.prompt), reflect(one, turn.action.content.trim())];
  const target = Int32Array.from([...codec.encode(said), codec.endId]);
  return prompt.length + target.length > contextTokens ? [] : demonstratedRows(t, unit, turn, prompt, target);
}
