/** What one role has read and done in an episode: a conversation and a token sequence that grow, and the turns on them. */
import { equal } from "../common/equal.ts";
import {
  type GrowingIds,
  growingIds,
  onSharedSequences,
  startsWith,
  turnIn,
} from "../common/tokens/sequence.ts";
import type { Codec } from "../core/model.ts";
import type { Id, Message, Role, StopReason, Turn, TurnTokens } from "../core/types.ts";
import type { Step } from "../env/environment.ts";
import type { Actor } from "./actor.ts";

/** A turn without its prompt, which is a part of its role's conversation. */
export type TurnMade = Omit<Turn, "prompt">;

export interface RoleState {
  readonly role: Role;
  readonly actor: Actor;
  /** The conversation. Turns refer to it: it is appended to, or replaced by a new array, and not changed otherwise. */
  said: readonly Message[];
  readonly turns: { readonly said: readonly Message[]; readonly length: number; readonly turn: TurnMade }[];
  /** Tokens up to and including the last action; with those of the next prompt, once they were asked for. */
  ids: GrowingIds | undefined;
  /** Tokens of the next action's prompt, once they were asked for. */
  prompt: Int32Array | undefined;
  stop: StopReason;
  /** Messages since the last action; undefined where the conversation was replaced since. */
  fresh: Message[] | undefined;
  /** Ids of the artefact parts in its prompt. */
  shown: readonly Id[];
}

export const newRole = (role: Role, actor: Actor, prompt: readonly Message[]): RoleState => ({
  role,
  actor,
  said: [...prompt],
  turns: [],
  ids: undefined,
  prompt: undefined,
  stop: "eos",
  fresh: [],
  shown: [],
});

export function appendMessages(state: RoleState, messages: readonly Message[]): void {
  append(state, messages);
  state.fresh?.push(...messages);
}

function append(state: RoleState, messages: readonly Message[]): void {
  (state.said as Message[]).push(...messages);
}

/** Replaces the conversation; one that repeats the present one and adds to it is the same conversation, extended. */
export function replaceConversation(state: RoleState, messages: readonly Message[]): void {
  const known = state.said.length;
  if (equal(messages.slice(0, known), state.said)) append(state, messages.slice(known));
  else state.said = [...messages];
  state.fresh = undefined;
}

/** Lets the actor rewrite the conversation before it acts on it. */
export function openConversation(state: RoleState): void {
  if (!state.actor.open) return;
  const { messages, shown } = state.actor.open(state.said);
  state.said = [...messages];
  state.shown = shown;
}

/** Tokens of the whole prompt of the next action. */
export function promptTokens(state: RoleState, codec: Codec): Int32Array {
  if (state.prompt) return state.prompt;
  if (state.ids && state.fresh) state.ids.append(codec.extend(state.stop, state.fresh));
  else place(state, codec.open(state.said));
  state.prompt = state.ids!.whole();
  return state.prompt;
}

/** Continues the sequence by the rest of a prompt that starts with it; any other prompt starts a new sequence. */
function place(state: RoleState, prompt: Int32Array): void {
  const read = state.ids?.whole();
  if (state.ids && read && startsWith(prompt, read)) state.ids.append(prompt.subarray(read.length));
  else state.ids = growingIds(prompt);
}

/** A recorded turn in place of an action, with its recorded prompt. */
export function replayTurn(state: RoleState, { prompt, ...turn }: Turn): TurnMade {
  if (!equal(prompt, state.said)) state.said = [...prompt];
  return turn;
}

/** Adds a turn and what the environment answered. */
export function recordTurn(state: RoleState, made: TurnMade, step: Step): void {
  const { tokens, ...rest } = made;
  const turn: TurnMade = {
    ...rest,
    ...(tokens && { tokens: recordTokens(state, tokens) }),
    rewards: step.rewards ?? made.rewards,
    ...(step.text === undefined ? {} : { text: step.text }),
  };
  state.turns.push({ said: state.said, length: state.said.length, turn });
  append(state, [made.action]);
  if (!tokens) state.ids = undefined;
  state.prompt = undefined;
  state.stop = made.stop;
  state.fresh = [];
}

/** Adds rewards to those of a role's last action, if it has acted. */
export function addRewards(state: RoleState | undefined, rewards: Readonly<Record<string, number>>): void {
  const last = state?.turns.at(-1);
  if (!state || !last) return;
  const sums = { ...last.turn.rewards };
  for (const [name, paid] of Object.entries(rewards)) sums[name] = (sums[name] ?? 0) + paid;
  state.turns[state.turns.length - 1] = { ...last, turn: { ...last.turn, rewards: sums } };
}

function recordTokens(state: RoleState, tokens: TurnTokens): TurnTokens {
  if (tokens.prompt !== state.prompt) place(state, tokens.prompt);
  const ids = state.ids!;
  const prompt = ids.whole();
  return { ...tokens, prompt, action: ids.append(tokens.action) };
}

/** The finished turns, on shared conversations and token sequences. */
export function turnsOf({ turns }: RoleState): readonly Turn[] {
  const shared = onSharedSequences(turns.map(({ turn }) => turn.tokens));
  return turns.map(({ said, length, turn }, k) => {
    const tokens = shared[k];
    return turnIn(said, length, { ...turn, ...(tokens && { tokens }) });
  });
}
