/** Re-renders trajectories: the same actions after other prompts, such as with advice removed, an answer revealed or an observation masked. */
import type { Codec } from "../../core/model.ts";
import type { Id, Message, StopReason, Trajectory, Turn } from "../../core/types.ts";
import { type GrowingIds, growingIds, onSharedSequences } from "./sequence.ts";

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
  let known: readonly Message[] | undefined;
  let sequence: GrowingIds | undefined;
  let stop: StopReason = "eos";
  const rendered = t.turns.map((turn, k) => {
    const messages = edit(turn.prompt, k);
    if (!turn.tokens) return { messages };
    // the next prompt continues the sequence where it repeats the last prompt and reply
    if (sequence && known && sameStart(messages, known))
      sequence.append(codec.extend(stop, messages.slice(known.length)));
    else sequence = growingIds(codec.open(messages));
    known = [...messages, turn.action];
    stop = turn.stop;
    const { forced } = turn.tokens;
    const prompt = sequence.whole();
    const action = sequence.append(turn.tokens.action);
    const unknown = new Float32Array(action.length).fill(Number.NaN);
    return {
      messages,
      tokens: { prompt, action, logp: unknown, behaviour: unknown, ...(forced ? { forced } : {}) },
    };
  });
  const shared = onSharedSequences(rendered.map(({ tokens }) => tokens));
  const turns = t.turns.map((turn, k): Turn => {
    const tokens = shared[k];
    return { ...turn, prompt: rendered[k]!.messages, ...(tokens && { tokens }) };
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
