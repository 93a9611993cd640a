/** Single-agent episodes whose whole state is one immutable value, so that forks are free. */
import type { Random } from "../core/random.ts";
import { alreadyOver, type Episode, type Observation, type Step } from "./environment.ts";

/** The rules of a small world. Both functions are pure. */
export interface Rules<State> {
  /** The observation before an action. */
  see(state: State): Observation;
  /** @param action trimmed. @param random stream of this turn alone. */
  act(state: State, action: string, random: Random): Step & { readonly next: State };
}

/** An episode that starts from a state. Turn k draws from `random.split("turn", k)`, so that a fork continues exactly as the original would. */
export function machine<State>(
  rules: Rules<State>,
  start: State,
  random: Random,
  from: { readonly turn: number; readonly over: boolean } = { turn: 0, over: false },
): Episode {
  let state = start;
  let { turn, over } = from;
  return {
    observe: async () => ({ role: "agent", observation: rules.see(state) }),
    async act({ content }) {
      if (over) return alreadyOver;
      const { next, ...step } = rules.act(state, content.trim(), random.split("turn", turn));
      state = next;
      turn++;
      over = step.end !== undefined;
      return step;
    },
    fork: async () => machine(rules, state, random, { turn, over }),
  };
}
