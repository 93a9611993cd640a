/** Episodes of one agent whose whole state is one immutable value: forks come for free. */
import type { Random } from "../core/random.ts";
import { alreadyOver, type Episode, type Observation, type Step } from "./environment.ts";

/** The rules of a small world. Both functions are pure. */
export interface Rules<State> {
  /** What the agent sees before it acts. */
  see(state: State): Observation;
  /** @param action without blanks around it. @param random this turn's own stream. */
  act(state: State, action: string, random: Random): Step & { readonly next: State };
}

/** Plays a world from a state. Turn k draws from `random.split("turn", k)`, so that a fork goes on as the original would. */
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
