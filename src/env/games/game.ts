/** Games whose every course can be listed: what a game states, and what its roles are told. */
import type { Message, Role } from "../../core/types.ts";

/**
 * A game of two roles or more whose chance is settled before the first move, such as a deal of cards. Everything is pure, and
 * states are plain data.
 * @typeParam S a state: all that is known to anybody, what has been dealt and not yet shown included.
 */
export interface Game<S = unknown> {
  readonly name: string;
  /** One line for lists. */
  readonly summary: string;
  /** The first message to every role. */
  readonly rules: string;
  /** In the order of the payoffs. */
  readonly roles: readonly [Role, Role, ...Role[]];
  /** "zero": the payoffs of each end add up to 0. */
  readonly sum: "zero" | "general";
  /**
   * What a role acts on. "history": all that it was told and did, as one growing conversation. "state": the last observation alone,
   * which then must show everything: every role sees the same game. States that look alike are then one.
   */
  readonly sees: "history" | "state";
  /** The beginnings, all equally likely. */
  readonly deals: readonly S[];
  /** What a reply that is no move costs the role that made it: at least as much as any loss, > 0. */
  readonly forfeit: number;
  /** Most moves of a game, by all roles. */
  readonly turns: number;
  /** Words of the longest move; one more where moves differ in length, for the end of the shorter ones. */
  readonly moveTokens: number;
  /** The role to move, as an index of `roles`; undefined at the end. */
  acting(state: S): number | undefined;
  /** The moves of the acting role, as texts; none may begin with another. Never empty. */
  legal(state: S): readonly string[];
  after(state: S, move: string): S;
  /** Of an end, by role. */
  payoffs(state: S): readonly number[];
  /**
   * What a role has been told until now. With `sees: "history"`, each list begins with the one before it; with "state" it describes
   * the state.
   */
  told(state: S, role: number): readonly string[];
}

/** What a role is told next, and how many lines it then knows. */
export interface News {
  readonly messages: readonly Message[];
  readonly lines: number;
}

/** The messages before a move, beside what the role knows: `known` lines. The environment and the tree both ask here. */
export function newsFor<S>(game: Game<S>, state: S, role: number, known: number): News {
  const lines = game.told(state, role);
  const news = game.sees === "state" ? lines : lines.slice(known);
  const all = known === 0 || game.sees === "state" ? [`you are ${game.roles[role]}`, ...news] : news;
  const message: Message = { role: "user", content: all.join(" . ") };
  return {
    messages: game.sees === "state" ? [...opening(game), message] : all.length === 0 ? [] : [message],
    lines: lines.length,
  };
}

/** The first message to every role. */
export const opening = ({ rules }: Pick<Game, "rules">): readonly Message[] => [
  { role: "user", content: rules },
];

/** Payoffs where a role made no move: it pays the forfeit, which in a zero-sum game the others share. */
export function forfeited({ roles, sum, forfeit }: Game, role: number): readonly number[] {
  return roles.map((_, i) => (i === role ? -forfeit : sum === "zero" ? forfeit / (roles.length - 1) : 0));
}
