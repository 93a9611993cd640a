/** Single-agent episodes whose whole state is one immutable value. */
import type { Random } from "../core/random.ts";
import { alreadyOver, type Episode, type Observation, type Step } from "./environment.ts";

/** The rules of a small world. Both functions are pure. */
export interface Rules<State> {
  /** The observation before an action. */
  see(state: State): Observation;
  /** @param action trimmed. @param random stream of this turn alone. */
  act(state: State, action: string, random: Random): Step & { readonly next: State };
}

/** An episode that starts from a state. Turn k draws from `random.split("turn", k)` alone. */
export function machine<State>(rules: Rules<State>, start: State, random: Random): Episode {
  let state = start;
  let [turn, over] = [0, false];
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
  };
}
