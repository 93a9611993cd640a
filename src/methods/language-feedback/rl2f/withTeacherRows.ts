import type { Row } from "../../../core/batch.ts";
import type { Codec } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Trajectory, Turn, Unit } from "../../../core/types.ts";
import { ofMembers } from "../../../rollout/addedRows.ts";

/** The role that such rows name. */
export const teacherRole = "teacher";

/**
 * Adds a training row to the rollout for each feedback text after one of the policy's actions: the teacher's tokens as
 * targets, in their context.
 *
 *     row: (x, y[1], f[1], …, y[k], f[k])        targets: the tokens of the text of f[k]
 *
 * A policy trained on them can act as its own teacher. The rows have origin "demonstrated" and role "teacher", belong to
 * the unit of their dialogue, and have no log-probabilities and advantage 1, so that a likelihood can be restricted to
 * them and ratios to the sampled rows. There is no feedback after the last action. Texts are located in the recorded
 * prompt; a text that is tokenised differently there has no row.
 *
 * Stats: taught, the share of texts with a row.
 * Papers: "Improving Interactive In-Context Learning from Natural Language Feedback"; "Expanding the Capabilities of
 * Reinforcement Learning via Text Feedback".
 */
export function withTeacherRows(rollout: Rollout): Rollout {
  return async (ctx) => {
    const own = await rollout(ctx);
    const made = ofMembers(own, (t, unit) => rowsOf(t, unit, (turn) => ctx.model(turn.model).codec));
    const rows = made.filter((row) => row !== undefined);
    return {
      ...own,
      rows: [...(own.rows ?? []), ...rows],
      stats: { ...own.stats, ...(made.length > 0 && { taught: rows.length / made.length }) },
    };
  };
}

/** A row for each text between two actions; undefined if it was not found. */
function rowsOf(t: Trajectory, unit: Unit, codecOf: (turn: Turn) => Codec): (Row | undefined)[] {
  return t.turns.slice(1).flatMap((turn, before) => {
    const prompt = turn.tokens?.prompt;
    if (!prompt) return [];
    const heard = turn.prompt.slice(t.turns[before]!.prompt.length + 1);
    const codec = codecOf(turn);
    let end = prompt.length;
    const rows = heard.toReversed().map(({ content }): Row | undefined => {
      const text = codec.encode(content);
      const at = lastBefore(prompt, text, end);
      if (at === undefined) return undefined;
      end = at;
      return rowOf(t, unit, turn, before, prompt.slice(0, at + text.length), text.length);
    });
    return rows.toReversed();
  });
}

/** Position of the last occurrence of a part among the tokens before `end`. */
function lastBefore(tokens: Int32Array, part: Int32Array, end: number): number | undefined {
  for (let at = end - part.length; at > 0 && part.length > 0; at--)
    if (part.every((id, i) => tokens[at + i] === id)) return at;
  return undefined;
}

/** @param said how many of the last tokens are the teacher's. @param about the turn that was spoken about. */
function rowOf(t: Trajectory, unit: Unit, turn: Turn, about: number, tokens: Int32Array, said: number): Row {
  const unknown = new Float32Array(said).fill(Number.NaN);
  return {
    info: {
      trajectory: t.id,
      task: t.task,
      role: teacherRole,
      model: turn.model,
      version: turn.version,
      origin: "demonstrated",
      context: "sampled",
      unit: unit.id,
      group: unit.group,
      from: 0,
    },
    tokens,
    targets: Int32Array.from(unknown, (_, i) => tokens.length - said + i),
    turn: new Int32Array(said).fill(about),
    logp: unknown,
    behaviour: unknown,
    advantage: new Float32Array(said).fill(1),
    weight: new Float32Array(said).fill(1),
  };
}
