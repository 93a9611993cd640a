/** Turns of past episodes as plain data: what off-policy critics learn from. */
import type { Json } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Id, Turn } from "../../../core/types.ts";

export { conversation, lastMessage } from "../../../common/tokens/turns.ts";

/** One turn and its transition. */
export interface Transition {
  /** What critics see of the turn's prompt. */
  readonly observation: string;
  /** The whole prompt in tokens, so that the policy can be sampled again. */
  readonly prompt: readonly number[];
  readonly utterance: string;
  /** Length of the utterance in tokens. */
  readonly length: number;
  /** Everything that was credited to the turn. */
  readonly reward: number;
  /** The next observation of the same episode; null where the episode had ended by itself. */
  readonly next: string | null;
}

/**
 * The turns of an experience, in order. Credits about a whole trajectory count at its last turn; turns without a credit
 * earned 0. The last turn of an episode that was truncated or failed is left out, because its next observation is
 * unknown. So are turns without tokens.
 */
export function transitionsOf(
  annotated: AnnotatedExperience,
  observation: (turn: Turn) => string,
): Transition[] {
  const earned = new Map<Id, number[]>();
  for (const t of annotated.trajectories) earned.set(t.id, new Array<number>(t.turns.length).fill(0));
  for (const { at, value } of Object.values(annotated.channels).flat()) {
    const own = earned.get(at.trajectory);
    const turn = at.turn ?? (own?.length ?? 0) - 1;
    if (own && turn >= 0 && turn < own.length) own[turn]! += value;
  }
  return annotated.trajectories.flatMap(({ id, turns, end }) =>
    turns.flatMap((turn, k): Transition[] => {
      const next = turns[k + 1];
      if (!turn.tokens || (!next && end.kind !== "done")) return [];
      return [
        {
          observation: observation(turn),
          prompt: [...turn.tokens.prompt],
          utterance: turn.action.content,
          length: turn.tokens.action.length,
          reward: earned.get(id)![k]!,
          next: next ? observation(next) : null,
        },
      ];
    }),
  );
}

/** Draws this many turns, with replacement. */
export const drawnFrom = (replay: readonly Transition[], count: number, random: Random): Transition[] =>
  Array.from({ length: count }, () => replay[random.below(replay.length)]!);

/** Converts a replay to and from its form in the run's memory. Entries that are not transitions are left out. */
export const toMemory = (replay: readonly Transition[]): Json =>
  replay.map((t) => ({ ...t, prompt: [...t.prompt] }));

export function fromMemory(kept: Json | undefined): Transition[] {
  if (!Array.isArray(kept)) return [];
  return kept.flatMap((one) => {
    if (typeof one !== "object" || one === null || Array.isArray(one)) return [];
    const { observation, prompt, utterance, length, reward, next } = one;
    const good =
      typeof observation === "string" &&
      typeof utterance === "string" &&
      typeof length === "number" &&
      typeof reward === "number" &&
      (typeof next === "string" || next === null) &&
      Array.isArray(prompt);
    return good ? [{ observation, utterance, length, reward, next, prompt: prompt.map(Number) }] : [];
  });
}
