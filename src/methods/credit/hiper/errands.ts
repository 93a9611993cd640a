/** Errands of several steps, one after the other: right actions count only under the errand's right plan. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Settings of {@link errands}. */
export interface ErrandsOptions {
  /** Errands of a task. Default 3. */
  readonly errands?: number;
  /** Right actions that each of them takes. Default 3. */
  readonly steps?: number;
  /** Plans to choose from. Default 3. */
  readonly plans?: number;
  /** Actions to choose from. Default 4. */
  readonly actions?: number;
  /** Default 24. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

interface State {
  /** Right actions so far, over all errands. */
  readonly done: number;
  readonly plan: string;
  readonly turn: number;
}

/** Before the first plan. */
const none = "none";

/**
 * Each turn is three words: `keep` or `switch`, a plan (`g1`) and an action (`a2`). After `keep` the plan has to be the
 * one that is held; anything else that is not of this form does nothing. The action counts if the plan is the errand's
 * and the action that of its step; both are the same for every task. The agent sees how far it is and its plan:
 * `errand 1 step 2 plan g0`. The reward is 1 for the last step of the last errand and comes as `outcome` at the end.
 */
export function errands(options: ErrandsOptions = {}): Environment {
  const { errands: count = 3, steps = 3, plans = 3, actions = 4, turns = 24, seed = 1 } = options;
  const stream = randomStream(seed);
  const planNames = Array.from({ length: plans }, (_, g) => `g${g}`);
  const actionNames = Array.from({ length: actions }, (_, a) => `a${a}`);
  const rightPlan = (done: number): string =>
    `g${stream.split("plan", Math.floor(done / steps)).below(plans)}`;
  const rightAction = (done: number): string => `a${stream.split("action", done).below(actions)}`;
  const taskAt = (split: string, index: number): Task => ({
    id: `errands/${split}/${index}`,
    prompt: [{ role: "user", content: "run the errands" }],
    metadata: {},
    seed: stream.split(split, index).seed,
  });
  /** The plan and action of a reply; undefined if it is malformed. */
  const read = (
    said: string,
    held: string,
  ): { readonly plan: string; readonly action: string } | undefined => {
    const [decision, plan = "", action = "", ...more] = said.split(/\s+/);
    const decided = decision === "switch" || (decision === "keep" && plan === held);
    const known = planNames.includes(plan) && actionNames.includes(action);
    return decided && known && more.length === 0 ? { plan, action } : undefined;
  };
  const see = ({ done, plan }: State): string =>
    `errand ${Math.floor(done / steps)} step ${done % steps} plan ${plan}`;
  return defineEnvironment({
    name: "errands",
    summary: "run errands of several steps, saying a plan and an action each turn; only the end is paid",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns, actionTokens: 3 },
    vocabulary: () => [
      "run the errands errand step plan keep switch",
      none,
      ...planNames,
      ...actionNames,
      ...Array.from({ length: Math.max(count, steps) }, (_, n) => `${n}`),
    ],
    tasks: (split) =>
      split === "train" || split === "test" ? Array.from({ length: 16 }, (_, i) => taskAt(split, i)) : [],
    expert: (_task, conversation) => {
      const [, errand, , step, , plan] = conversation.at(-1)!.content.split(" ");
      const done = Number(errand) * steps + Number(step);
      const right = rightPlan(done);
      return `${right === plan ? "keep" : "switch"} ${right} ${rightAction(done)}`;
    },
    start: async (_task, random) =>
      machine<State>(
        {
          see: (state) => ({ messages: [{ role: "user", content: see(state) }], stateKey: see(state) }),
          act: (state, said) => {
            const { plan, action } = read(said, state.plan) ?? { plan: state.plan, action: "" };
            const right = plan === rightPlan(state.done) && action === rightAction(state.done);
            const next = { done: state.done + (right ? 1 : 0), plan, turn: state.turn + 1 };
            if (next.done === count * steps) {
              const end = { kind: "done", reason: "all done", success: true } as const;
              return { next: state, rewards: { outcome: 1 }, end };
            }
            if (next.turn < turns) return { next };
            return { next, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turns } };
          },
        },
        { done: 0, plan: none, turn: 0 },
        random,
      ),
    verify: async (_task, trajectory) => ({ outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}
