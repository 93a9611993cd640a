/** Re-renders trajectories: the same actions after other prompts, such as with advice removed, an answer revealed or an observation masked. */
import type { Codec } from "../../core/model.ts";
import type { Id, Message, Trajectory, Turn } from "../../core/types.ts";
import { concatIds } from "./pack.ts";

/**
 * A trajectory whose prompts are re-rendered from edited messages, with unchanged action tokens. Its log-probabilities are
 * unknown (NaN) until they are scored; its rows have `context: "rewritten"`.
 * @param edit receives each turn's whole prompt. It must edit messages that turns share in the same way; otherwise the row is cut there.
 */
export function rewritten(
  t: Trajectory,
  id: Id,
  codec: Codec,
  edit: (messages: readonly Message[], turn: number) => readonly Message[],
): Trajectory {
  let before: { messages: readonly Message[]; turn: Turn; sequence: Int32Array } | undefined;
  const turns = t.turns.map((turn, k): Turn => {
    const messages = edit(turn.prompt, k);
    if (!turn.tokens) return { ...turn, prompt: messages };
    // the next prompt continues the sequence where it repeats the last prompt and reply
    const known: readonly Message[] | undefined = before && [...before.messages, before.turn.action];
    const prompt =
      before && known && sameStart(messages, known)
        ? concatIds([before.sequence, codec.extend(before.turn.stop, messages.slice(known.length))])
        : codec.open(messages);
    const { action } = turn.tokens;
    before = { messages, turn, sequence: concatIds([prompt, action]) };
    const unknown = new Float32Array(action.length).fill(Number.NaN);
    const forced = turn.tokens.forced;
    return {
      ...turn,
      prompt: messages,
      tokens: { prompt, action, logp: unknown, behaviour: unknown, ...(forced ? { forced } : {}) },
    };
  });
  return { ...t, id, turns, lineage: { parent: t.id, turn: 0, why: "rewrite" } };
}

function sameStart(messages: readonly Message[], start: readonly Message[]): boolean {
  if (messages.length < start.length) return false;
  return start.every((m, i) => messages[i]!.role === m.role && messages[i]!.content === m.content);
}

/**
 * A trajectory without the advice that it was played with: the same actions, without the last messages before its first
 * sampled action.
 * @param advice number of turns replayed before the advice, and number of its messages.
 */
export function withoutAdvice(
  t: Trajectory,
  id: Id,
  codec: Codec,
  advice: { readonly turn: number; readonly messages: number },
): Trajectory {
  const end = t.turns[advice.turn]?.prompt.length ?? 0;
  return rewritten(t, id, codec, (prompt, turn) =>
    turn < advice.turn ? prompt : [...prompt.slice(0, end - advice.messages), ...prompt.slice(end)],
  );
}
