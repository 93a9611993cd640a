import { mean } from "../../../common/statistics/statistics.ts";
import { sampledTurn } from "../../../common/tokens/turns.ts";
import type { Ctx } from "../../../core/context.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Task, Trajectory, Unit } from "../../../core/types.ts";
import { type ClueWeights, clueRewards, decisionReward } from "./votes.ts";

/** What a decision says that names no spy. */
export const nobody = "nobody";

/** Which stage an iteration trains. */
export type Stage = "clues" | "decisions" | "both";

/** Settings of {@link spyGames}. */
export interface SpyGamesOptions extends ClueWeights {
  /** Games of a task in an iteration. */
  readonly games: number;
  /** G, decisions in a game. */
  readonly decisions: number;
  /** The role that decides; the others give clues. */
  readonly decider: string;
  /** By iteration. */
  readonly stage: (iteration: number) => Stage;
  readonly temperature?: number;
}

/** Stages that take turns, decisions first. @param every iterations of a stage. */
export const alternating =
  (every: number) =>
  (iteration: number): Stage =>
    Math.floor(iteration / every) % 2 === 0 ? "decisions" : "clues";

/**
 * Games of a spy among civilians, all roles of which are the policy. The players give clues; a decider reads them and names the spy, or nobody. The decider's
 * turn is sampled G times: these decisions are votes, which pay the clues ({@link clueRewards}), and are themselves paid for the truth
 * ({@link decisionReward}).
 *
 * One of both is trained in an iteration, by its stage: clues by self-play, as rewards `clue.spy` and `clue.civilian` of the last clue, or decisions by a reward that can be
 * verified, `decision`, in a group for each game. The environment's own rewards are not read. Every task has `metadata.spy`, the role of its spy.
 * Stats: `found`, share of decisions that name the spy; `nobody`, share of those that name nobody.
 * Paper: "Vision-Zero: Scalable VLM Self-Improvement via Strategic Gamified Self-Play".
 */
export function spyGames(options: SpyGamesOptions): Rollout {
  const { games, stage, temperature } = options;
  return async (ctx) => {
    const now = stage(ctx.clock.iteration);
    const played = await Promise.all(
      ctx.tasks.flatMap((task) =>
        Array.from({ length: games }, async (_, attempt) => {
          const plays = { task: task.id, attempt, ...(temperature !== undefined && { temperature }) };
          return voted(ctx, task, await ctx.play(plays), options);
        }),
      ),
    );
    const whole = played.filter((game) => game !== undefined);
    const units = whole.flatMap(({ id, clues, votes }): Unit[] => [
      ...(now === "decisions" ? [] : clues.map((t) => ({ id: t.id, group: "clues", members: [t.id] }))),
      ...(now === "clues" ? [] : votes.map((t) => ({ id: t.id, group: id, members: [t.id] }))),
    ]);
    const all = whole.flatMap(({ said }) => said);
    return {
      trajectories: whole.flatMap(({ clues, votes }) => [...clues, ...votes]),
      units,
      stats: {
        ...(all.length > 0 && {
          found: mean(all.map((reward) => Number(reward === 1))),
          nobody: mean(all.map((reward) => Number(reward === -0.5))),
        }),
      },
    };
  };
}

/** A game with its clues and decisions paid. Undefined where it failed or was not decided. */
async function voted(ctx: Ctx, task: Task, roles: readonly Trajectory[], options: SpyGamesOptions) {
  const { decider, decisions, temperature = 1 } = options;
  const spy = spyOf(task);
  const first = roles.find(({ role }) => role === decider);
  const asked = first?.turns.at(-1);
  const clues = roles.filter(({ role }) => role !== decider);
  if (!first || !asked?.tokens || roles.some(({ end }) => end.kind === "failed")) return undefined;
  const model = ctx.model();
  const prompt = asked.tokens.prompt;
  const requests = Array.from({ length: decisions - 1 }, (_, k) => ({
    ...{ prompt, temperature, maxTokens: Math.max(1, asked.tokens!.action.length) },
    seed: ctx.random.split("decision", first.id, k).seed,
  }));
  const samples = await model.sample(requests);
  ctx.count("generations", samples.length);
  ctx.count(
    "tokens.sampled",
    samples.reduce((sum, { action }) => sum + action.length, 0),
  );
  const further = samples.map((sample, k): Trajectory => {
    const id = `${first.id}/decision ${k + 1}`;
    const made = {
      model: { id: "policy", codec: model.codec },
      role: decider,
      prompt,
      messages: asked.prompt,
    };
    return { ...first, id, turns: [sampledTurn({ ...made, sample })] };
  });
  const votes = [{ ...first, turns: [asked] }, ...further];
  const said = votes.map(({ turns }) => turns[0]!.action.content.trim());
  const rewards = said.map((decision) => decisionReward(decision, spy, nobody));
  const paid = clueRewards(
    clues.map(({ role }) => role),
    ...([spy, said, options] as const),
  );
  return {
    id: first.episode,
    said: rewards,
    votes: votes.map((t, k) => paidFor(t, "decision", rewards[k]!)),
    clues: clues.map((t) => paidFor(t, t.role === spy ? "clue.spy" : "clue.civilian", paid.get(t.role)!)),
  };
}

function spyOf({ id, metadata }: Task): string {
  if (typeof metadata.spy === "string") return metadata.spy;
  throw new WhetstoneError("capability.missing", {
    where: `task "${id}"`,
    got: "no metadata.spy",
    expected: "the role of the spy",
    fix: "Train on games of a spy among civilians, whose tasks say who it is.",
  });
}

const paidFor = (t: Trajectory, name: string, reward: number): Trajectory => ({
  ...t,
  turns: t.turns.map((turn, k) =>
    k === t.turns.length - 1 ? { ...turn, rewards: { [name]: reward } } : turn,
  ),
});
