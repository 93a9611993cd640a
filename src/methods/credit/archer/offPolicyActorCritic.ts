/** Off-policy actor-critic from a replay of turns: critics of whole utterances, and a policy that follows them. */

import { addStats, averageStats } from "../../../common/statistics/stats.ts";
import { pack, trajectoryRows } from "../../../common/tokens/pack.ts";
import { sampledTurn } from "../../../common/tokens/turns.ts";
import type { Ctx } from "../../../core/context.ts";
import { present } from "../../../core/errors.ts";
import type { Model, StepRule } from "../../../core/model.ts";
import type { Objective } from "../../../core/objective.ts";
import type { Random } from "../../../core/random.ts";
import type { Update } from "../../../core/slots.ts";
import type { Stats, Trajectory, Turn } from "../../../core/types.ts";
import {
  conversation,
  drawnFrom,
  fromMemory,
  type Transition,
  toMemory,
  transitionsOf,
} from "./turnReplay.ts";

/** Settings of {@link offPolicyActorCritic}. */
export interface OffPolicyActorCriticOptions {
  /** Of the policy. */
  readonly step: StepRule;
  /** γ, discount per turn, in [0, 1]. Default 0.95. */
  readonly discount?: number;
  /** Fits of the critics per iteration. Default 20. */
  readonly criticSteps?: number;
  /** Steps of the policy per iteration, after the critics. Default 5. */
  readonly actorSteps?: number;
  /** Turns drawn from the replay for each of them. Default 32. */
  readonly turns?: number;
  /** Warm-up iterations, in which only the critics are trained. Default 3. */
  readonly warmUp?: number;
  /** Capacity of the replay in turns; the oldest are removed first. Default 5000. */
  readonly capacity?: number;
  /** The text of a turn's prompt that the critics see. Default: all messages, one per line. */
  readonly observation?: (turn: Turn) => string;
  /** The helper that holds the critics, see `twinCritic`. Default "critic". */
  readonly critic?: string;
}

/** Critic query: with an utterance for Q(o, a), without one for V(o). */
interface Question {
  readonly observation: string;
  readonly utterance?: string;
}
/** One value from each of the two critics. */
type Pair = readonly [number, number];
interface Answer {
  readonly now: Pair;
  readonly target: Pair;
}

/**
 * Hierarchical actor-critic: an utterance is one action of a decision process over turns, judged by critics that learn
 * off-policy; within it the policy's tokens follow the score function. o: observation, a: utterance, r: credits.
 *
 *     critics, on turns of the replay:   Q_i → r + γ V̄_i(o′), at the end r;   V_i → Q̄_i(o, ã),   ã ~ π(· | o) afresh
 *     policy, at their observations:     A = min(Q_1, Q_2)(o, ã) − min(V_1, V_2)(o) on every token of ã ~ π(· | o)
 *
 * Bars are slow copies. Replayed utterances train only the critics: the policy is trained on newly sampled utterances, so
 * no off-policy correction is needed. The evidence's advantages and its batch are not used.
 *
 * Stats: steps, replay (turns held), critic.error, advantage (mean size), and those of the objectives and steps.
 * Paper: "ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL".
 */
export function offPolicyActorCritic(options: OffPolicyActorCriticOptions): Update {
  const {
    criticSteps = 20,
    actorSteps = 5,
    warmUp = 3,
    capacity = 5000,
    observation = conversation,
  } = options;
  return async (ctx, _batch, objectives, annotated) => {
    const replay = [...fromMemory(ctx.memory.get(replayKey)), ...transitionsOf(annotated, observation)].slice(
      -capacity,
    );
    ctx.memory.set(replayKey, toMemory(replay));
    if (replay.length === 0) return { steps: 0, replay: 0 };
    const fits: Stats = {};
    for (let step = 0; step < criticSteps; step++)
      addStats(fits, await fitted(ctx, replay, options, ctx.random.split("critic", step)));
    const known = { replay: replay.length, "critic.error": (fits.error ?? 0) / Math.max(1, criticSteps) };
    if (ctx.clock.iteration < warmUp) return { ...known, steps: 0 };
    const sums: Stats = {};
    for (let step = 0; step < actorSteps; step++)
      addStats(sums, await stepped(ctx, replay, objectives, options, ctx.random.split("actor", step)));
    return { ...averageStats(sums), ...known, steps: actorSteps };
  };
}

const replayKey = "replay";

const criticsOf = (ctx: Ctx, { critic = "critic" }: OffPolicyActorCriticOptions) =>
  ctx.helper<Question, Pair, Answer>(critic);

/** One fit of the critics towards their slow copies' targets. */
async function fitted(
  ctx: Ctx,
  replay: readonly Transition[],
  options: OffPolicyActorCriticOptions,
  random: Random,
): Promise<Stats> {
  const { discount = 0.95, turns = 32 } = options;
  const critics = criticsOf(ctx, options);
  const drawn = drawnFrom(replay, turns, random);
  const said = await spoken(ctx, drawn, random);
  const after = await critics.predict(drawn.map(({ next }) => ({ observation: next ?? "" })));
  const fresh = await critics.predict(said.map(({ question }) => question));
  const rows = drawn.flatMap(({ observation, utterance, reward, next }, i) => {
    const later: Pair = next === null ? [0, 0] : after[i]!.target;
    const worth: Pair = [reward + discount * later[0], reward + discount * later[1]];
    return [
      { x: { observation, utterance }, y: worth, weight: 1 },
      { x: { observation }, y: fresh[i]!.target, weight: 1 },
    ];
  });
  return critics.fit(rows);
}

/** One step of the policy, on utterances sampled now at observations of the replay. */
async function stepped(
  ctx: Ctx,
  replay: readonly Transition[],
  objectives: readonly Objective[],
  options: OffPolicyActorCriticOptions,
  random: Random,
): Promise<Stats> {
  const critics = criticsOf(ctx, options);
  const said = await spoken(ctx, drawnFrom(replay, options.turns ?? 32, random), random);
  const q = await critics.predict(said.map(({ question }) => question));
  const v = await critics.predict(said.map(({ question: { observation } }) => ({ observation })));
  let size = 0;
  const rows = said.flatMap(({ trajectory, tokens }, i) => {
    const advantage = Math.min(...q[i]!.now) - Math.min(...v[i]!.now);
    size += Math.abs(advantage);
    const unit = { id: trajectory.id, group: trajectory.id, members: [trajectory.id] };
    return trajectoryRows(trajectory, unit, new Float32Array(tokens).fill(advantage)).rows;
  });
  const batch = pack(rows, []);
  ctx.count("tokens.trained", batch.target_A.length);
  const policy = ctx.model();
  const stats: Stats = { "advantage/utterances": size, utterances: said.length };
  for (const objective of objectives) {
    const own = await policy.accumulate(batch, objective, await objective.prepare(ctx, batch));
    addStats(stats, Object.fromEntries(Object.entries(own).map(([k, x]) => [`${objective.name}.${k}`, x])));
  }
  addStats(stats, await policy.step(options.step));
  return stats;
}

interface Spoken {
  readonly question: Required<Question>;
  /** Of one turn. */
  readonly trajectory: Trajectory;
  readonly tokens: number;
}

/** Samples the current policy at the replayed turns' prompts, at most as long as the longest replayed utterance. */
async function spoken(ctx: Ctx, drawn: readonly Transition[], random: Random): Promise<Spoken[]> {
  const model: Model = ctx.model();
  const maxTokens = drawn.reduce((most, { length }) => Math.max(most, length), 1);
  const samples = await model.sample(
    drawn.map(({ prompt }, i) => ({
      prompt: Int32Array.from(prompt),
      maxTokens,
      seed: random.split("utterance", i).seed,
    })),
  );
  ctx.count("generations", samples.length);
  return drawn.map(({ observation, prompt }, i) => {
    const sample = present(samples[i], "offPolicyActorCritic", "sample from the model");
    const turn = sampledTurn({ model, role: "agent", prompt: Int32Array.from(prompt), messages: [], sample });
    const id = `replayed/${random.seed}/${i}`;
    const tokens = sample.action.length;
    ctx.count("tokens.sampled", tokens);
    return {
      question: { observation, utterance: turn.action.content },
      tokens,
      trajectory: {
        id,
        task: id,
        episode: id,
        role: "agent",
        turns: [turn],
        end: { kind: "done", reason: "imagined" },
        origin: "imagined",
      },
    };
  });
}
