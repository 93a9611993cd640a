/** Training rows from failed attempts: cut at the first wrong step, which a right one replaces. */

import { leaksAnswer } from "../../../common/text/leaksAnswer.ts";
import { trajectoryRows } from "../../../common/tokens/pack.ts";
import { concatIds } from "../../../common/tokens/sequence.ts";
import type { Row } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Codec } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens, type Message, succeeded, type Trajectory, type Turn } from "../../../core/types.ts";

/** One step of an attempt: a line of one of its actions. */
export interface AttemptStep {
  readonly turn: number;
  /** First token of the line within its action. */
  readonly from: number;
  /** Whether its action ends with it. */
  readonly last: boolean;
  readonly text: string;
}

/** A short right step that replaces the first wrong one. */
export interface Intervention {
  /** Index of the wrong step among all of the attempt's, from 0. */
  readonly step: number;
  readonly text: string;
}

/** Finds the first wrong step of a failed attempt; undefined where none was found. */
export type Propose = (
  ctx: Ctx,
  failed: Trajectory,
  steps: readonly AttemptStep[],
) => Promise<Intervention | undefined>;

/** Settings of {@link intervened}. */
export interface InterventionsOptions {
  /** Default: the policy itself, shown the reference; see {@link proposedBySelf}. */
  readonly propose?: Propose;
  /** Tasks with a higher success rate than this are skipped. Default 0.5. */
  readonly passRate?: number;
}

/**
 * The rollout's rows, and an extra row for each failed attempt with a first wrong step:
 *
 *     s[1] … s[k − 1], s′[k]        in the context of the attempt itself, nothing after it
 *
 * s′ is the intervention; it ends as the step did that it replaces. Neither the reference nor the rest of the attempt
 * is in the row, so that only the correction is trained. Interventions that contain the task's reference answer leak it
 * and are dropped, as are those without text and those about steps that do not exist.
 *
 * Stats: interventions, per failed attempt of the tasks that are not skipped.
 * Paper: "InT: Self-Proposed Interventions Enable Credit Assignment in LLM Reasoning".
 */
export function intervened(rollout: Rollout, options: InterventionsOptions = {}): Rollout {
  const { propose = proposedBySelf(), passRate = 0.5 } = options;
  return async (ctx) => {
    const experience = await rollout(ctx);
    const byTask = Map.groupBy(experience.trajectories, (t) => t.task);
    const failed = [...byTask.values()].flatMap((attempts) => {
      const share = attempts.filter(succeeded).length / attempts.length;
      return share > passRate ? [] : attempts.filter((t) => !succeeded(t) && t.end.kind !== "failed");
    });
    const made = await Promise.all(failed.map((t) => rowsOf(ctx, t, propose)));
    const stats =
      failed.length > 0 ? { interventions: made.filter((r) => r.length > 0).length / failed.length } : {};
    return {
      ...experience,
      rows: [...(experience.rows ?? []), ...made.flat()],
      stats: { ...experience.stats, ...stats },
    };
  };
}

async function rowsOf(ctx: Ctx, failed: Trajectory, propose: Propose): Promise<readonly Row[]> {
  const model = failed.turns[0]?.model;
  if (model === undefined) return [];
  const { codec } = ctx.model(model);
  const steps = stepsOf(failed, codec);
  const found = await propose(ctx, failed, steps);
  const step = found && steps[found.step];
  const { reference } = ctx.task(failed.task);
  if (!found || !step || found.text.trim() === "" || leaksAnswer(found.text, reference)) return [];
  const t = corrected(failed, step, found.text, codec);
  const unit = { id: t.id, group: t.task, members: [t.id] };
  return trajectoryRows(t, unit, new Float32Array(actionTokens(t))).rows;
}

/** The steps of an attempt: the non-empty lines of its actions, in order. */
export function stepsOf(t: Trajectory, codec: Codec): readonly AttemptStep[] {
  return t.turns.flatMap((turn, k) => {
    const action = turn.tokens?.action;
    if (!action) return [];
    const lines = codec.decode(action).split("\n");
    return lines.flatMap((text, line) => {
      if (text.trim() === "") return [];
      const last = lines.slice(line + 1).every((after) => after.trim() === "");
      return [{ turn: k, from: lineStart(action, line, codec), last, text }];
    });
  });
}

/** First token after this many line breaks. */
function lineStart(action: Int32Array, line: number, codec: Codec): number {
  if (line === 0) return 0;
  let from = 1;
  while (codec.decode(action.subarray(0, from)).split("\n").length <= line) from++;
  return from;
}

/** The attempt up to a step, with the step replaced; log-probabilities are unknown. */
function corrected(t: Trajectory, step: AttemptStep, text: string, codec: Codec): Trajectory {
  const turns = t.turns.slice(0, step.turn + 1).map((turn, k): Turn => {
    if (k < step.turn || !turn.tokens) return turn;
    const { prompt, action: wrong } = turn.tokens;
    const end = !step.last ? codec.encode("\n") : turn.stop === "eos" ? Int32Array.of(codec.endId) : [];
    const action = concatIds([wrong.subarray(0, step.from), codec.encode(text), Int32Array.from(end)]);
    const unknown = new Float32Array(action.length).fill(Number.NaN);
    return {
      ...turn,
      action: { role: "assistant", content: codec.decode(action) },
      tokens: { prompt, action, logp: unknown, behaviour: unknown },
    };
  });
  return {
    ...t,
    id: `${t.id}/intervened`,
    turns,
    lineage: { parent: t.id, turn: step.turn, why: "rewrite" },
  };
}

/** Settings of {@link proposedBySelf}. */
export interface ProposedBySelfOptions {
  /** Longest reply. Default 64. */
  readonly maxTokens?: number;
  /** The question that follows the numbered attempt and the reference. */
  readonly question?: string;
}

const asked =
  "Which step of the attempt is the first wrong one? Reply with its number, a colon, and one short correct step to put in its place. Do not give the final answer. Reply none if every step is right.";

/** Asks the model that made the attempt, with its numbered steps and the reference solution in the prompt. */
export function proposedBySelf({ maxTokens = 64, question = asked }: ProposedBySelfOptions = {}): Propose {
  return async (ctx, failed, steps) => {
    const { reference, prompt } = ctx.task(failed.task);
    const model = ctx.model(failed.turns[0]?.model);
    if (reference === undefined) return undefined;
    const numbered = steps.map(({ text }, i) => `${i + 1}: ${text.trim()}`).join("\n");
    const content = `Attempt:\n${numbered}\nReference solution: ${reference}\n${question}`;
    const messages: readonly Message[] = [...prompt, { role: "user", content }];
    const [reply] = await model.sample([
      {
        prompt: model.codec.open(messages),
        maxTokens,
        stop: ["\n"],
        seed: ctx.random.split("intervention", failed.id).seed,
      },
    ]);
    ctx.count("generations", 1);
    ctx.count("tokens.sampled", reply?.action.length ?? 0);
    const [, number, text] = /(\d+)\s*:\s*(\S.*)/.exec(reply ? model.codec.decode(reply.action) : "") ?? [];
    return number === undefined || text === undefined ? undefined : { step: Number(number) - 1, text };
  };
}
