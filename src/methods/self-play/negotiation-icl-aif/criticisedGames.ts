import type { Ctx } from "../../../core/context.ts";
import { type Able, evaluatorIn } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Id, type Message, paid, succeeded, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link criticisedGames}. */
export interface CriticisedGamesOptions {
  /** R, games that follow one another. */
  readonly rounds: number;
  /** Sequences of games against each opponent. */
  readonly groupSize: number;
  /** Writes the suggestions after each game; none leaves the player with the games alone. */
  readonly critic?: Able<"critique">;
  readonly temperature?: number;
}

/** First word of what a player is told of an earlier game. */
export const gameWord = "game";
/** Words before the critic's suggestions. */
export const suggestionWords = "suggestion :";

/** An earlier game as its player reads it: what it said, how it ended, and what was suggested. */
export function retold(round: number, t: Trajectory, suggested: string | undefined): Message {
  const said = t.turns.map(({ action }) => action.content.trim()).join(" ");
  const ending = t.end.kind === "done" ? t.end.reason : "cut off";
  const more = suggested === undefined ? "" : ` ${suggestionWords} ${suggested}`;
  return { role: "user", content: `${gameWord} ${round + 1} : ${said} ; ${ending}${more}` };
}

/**
 * Games that follow one another, with all earlier games and the critic's suggestions in the player's context. The weights
 * stay as they are: what is learnt is in the context.
 *
 *     y_r ~ π(· | rules, (y_1, f_1), …, (y_{r−1}, f_{r−1})),   f_r = critic(y_r)        r = 1 … R
 *
 * The opponent is part of the environment and remembers nothing. Units: one game each, grouped by task and round, "<task>/round 3".
 * A game that failed ends its sequence; one without a critique is retold without a suggestion. Stats, of round r: `deals.r`, share
 * of successes; `utility.r`, mean reward; `onDeals.r`, mean reward of successes, absent without one. The last alone hides
 * breakdowns.
 * Paper: "Improving Language Model Negotiation with Self-Play and In-Context Learning from AI Feedback".
 */
export function criticisedGames(options: CriticisedGamesOptions): Rollout {
  const { rounds, groupSize } = options;
  return async (ctx) => {
    const sequences = await Promise.all(
      ctx.tasks.flatMap(({ id }) =>
        Array.from({ length: groupSize }, (_, g) => sequenceOf(ctx, id, g, options)),
      ),
    );
    const stats: Record<string, number> = {};
    for (let r = 0; r < rounds; r++) {
      const games = sequences.flatMap((games) => games[r] ?? []);
      const deals = games.filter(succeeded);
      if (games.length === 0) continue;
      stats[`deals.${r + 1}`] = deals.length / games.length;
      stats[`utility.${r + 1}`] = meanOf(games.map(paid));
      if (deals.length > 0) stats[`onDeals.${r + 1}`] = meanOf(deals.map(paid));
    }
    return {
      trajectories: sequences.flat(),
      units: sequences.flatMap((games) =>
        games.map(({ id, task }, r) => ({ id, group: `${task}/round ${r + 1}`, members: [id] })),
      ),
      stats,
    };
  };
}

async function sequenceOf(
  ctx: Ctx,
  task: Id,
  g: number,
  { rounds, critic, temperature }: CriticisedGamesOptions,
): Promise<readonly Trajectory[]> {
  const games: Trajectory[] = [];
  const told: Message[] = [];
  for (let r = 0; r < rounds; r++) {
    const [t] = await ctx.play({
      task,
      attempt: g * rounds + r,
      ...(told.length > 0 && { advice: [...told] }),
      ...(temperature === undefined ? {} : { temperature }),
    });
    if (!t || t.end.kind === "failed" || t.turns.length === 0) break;
    games.push(t);
    const said = critic && (await evaluatorIn(ctx, critic).critique(t, ctx.random.split("critic", t.id)));
    told.push(retold(r, t, said?.text));
  }
  return games;
}

const meanOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
