/**
 * Token sequences that turns share. As long as each prompt continues the previous turn, the turns lie on one array: a turn's
 * prompt is a view from the start of the array, and its action is the view after the prompt. Whether a turn continues
 * another is then read from the position of the views, without comparing tokens.
 */
import type { Message, Turn, TurnTokens } from "../../core/types.ts";

/** Concatenates token sequences. */
export function concatIds(parts: readonly Int32Array[]): Int32Array {
  let length = 0;
  for (const p of parts) length += p.length;
  const out = new Int32Array(length);
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

/** A sequence that grows at its end. What was returned before never changes. */
export interface GrowingIds {
  /** @returns a view of the appended tokens. */
  append(ids: Int32Array): Int32Array;
  /** A view of all tokens so far. */
  whole(): Int32Array;
}

export function growingIds(start: Int32Array): GrowingIds {
  let room = new Int32Array(2 * start.length + 64);
  let length = 0;
  const append = (ids: Int32Array): Int32Array => {
    const from = length;
    length += ids.length;
    if (length > room.length) {
      const larger = new Int32Array(2 * length);
      larger.set(room.subarray(0, from));
      room = larger;
    }
    room.set(ids, from);
    return room.subarray(from, length);
  };
  append(start);
  return { append, whole: () => room.subarray(0, length) };
}

/** Whether one sequence begins with another. */
export function startsWith(longer: Int32Array, shorter: Int32Array): boolean {
  if (longer.length < shorter.length) return false;
  for (let i = 0; i < shorter.length; i++) if (longer[i] !== shorter[i]) return false;
  return true;
}

type Tokens = Pick<TurnTokens, "prompt" | "action">;

const isSegment = ({ prompt, action }: Tokens): boolean =>
  action.buffer === prompt.buffer && action.byteOffset === prompt.byteOffset + prompt.byteLength;

/** Number of tokens of a turn's prompt and action. */
export const sequenceLength = ({ prompt, action }: Tokens): number => prompt.length + action.length;

/** A turn's prompt and action as one sequence; a view where they lie side by side. */
export const wholeSequence = (tokens: Tokens): Int32Array =>
  isSegment(tokens)
    ? new Int32Array(tokens.prompt.buffer, tokens.prompt.byteOffset, sequenceLength(tokens))
    : concatIds([tokens.prompt, tokens.action]);

/**
 * Whether the prompt of a turn starts with the previous turn's prompt and action, token by token. Read from the position of
 * the views for turns of one sequence; other turns are compared.
 */
export function continues(before: Tokens, { prompt }: Tokens): boolean {
  if (prompt.length < sequenceLength(before)) return false;
  const { buffer, byteOffset, length } = before.prompt;
  if (isSegment(before) && prompt.buffer === buffer && prompt.byteOffset === byteOffset) return true;
  return startsWith(prompt, before.prompt) && startsWith(prompt.subarray(length), before.action);
}

/**
 * The tokens of a trajectory's turns on as few arrays as possible, each exactly as long as its last turn: a new one begins
 * where a prompt does not continue the previous turn (a cut). The content stays the same.
 * @param turns in order; undefined for a turn without tokens, which cuts nothing.
 */
export function onSharedSequences(turns: readonly (TurnTokens | undefined)[]): (TurnTokens | undefined)[] {
  const out = [...turns];
  let run: number[] = [];
  let last: TurnTokens | undefined;
  const close = (): void => {
    if (!last) return;
    const sequence = concatIds([last.prompt, last.action]);
    for (const i of run) {
      const tokens = turns[i]!;
      const at = tokens.prompt.length;
      const [prompt, action] = [sequence.subarray(0, at), sequence.subarray(at, sequenceLength(tokens))];
      out[i] = { ...tokens, prompt, action };
    }
    run = [];
  };
  turns.forEach((tokens, i) => {
    if (!tokens) return;
    if (last && !continues(last, tokens)) close();
    run.push(i);
    last = tokens;
  });
  close();
  return out;
}

/**
 * A turn whose prompt is the first `length` messages of a conversation. Later turns of the conversation share it, so that
 * only what each turn adds takes memory; every access of `prompt` makes a new array.
 * @param said only ever appended to.
 */
export const turnIn = (said: readonly Message[], length: number, turn: Omit<Turn, "prompt">): Turn => ({
  ...turn,
  get prompt() {
    return said.slice(0, length);
  },
});
