/** A tea house: a guest orders, and the agent prepares the drink, a word for each step. Nobody tells it the recipes. */
import { randomStream } from "../../../src/core/random.ts";
import type { Task } from "../../../src/core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../../../src/env/environment.ts";

/** What is done for each drink, in order. */
const recipes: Readonly<Record<string, readonly string[]>> = {
  tea: ["boil", "steep", "serve"],
  coffee: ["grind", "boil", "serve"],
  cocoa: ["warm", "stir", "serve"],
  lemonade: ["squeeze", "cool", "serve"],
};
const orders = Object.keys(recipes);
/** The words to choose from. */
const actions = [...new Set(Object.values(recipes).flat())];
/** Actions after which the guest leaves. */
const patience = 6;

const drinkOf = (task: Task): string => task.metadata.drink as string;

/** What a right step pays. */
const tip = 0.25;

function start(task: Task): Episode {
  const drink = drinkOf(task);
  const recipe = recipes[drink]!;
  let [done, turn, over] = [0, 0, false];
  return {
    observe: async () => {
      const seen = `${drink} step ${done}`;
      const messages = turn === 0 ? [] : [{ role: "user", content: seen } as const];
      return { role: "agent", observation: { messages, stateKey: seen, legal: actions } };
    },
    act: async ({ content }): Promise<Step> => {
      if (over) return alreadyOver;
      turn++;
      const action = content.trim();
      const right = action === recipe[done];
      if (right) done++;
      const served = done === recipe.length;
      over = served || turn === patience;
      return {
        rewards: { pay: served ? 1 : right ? tip : 0 },
        ...(served && { end: { kind: "done", reason: "served", success: true } as const }),
        ...(over && !served && { end: { kind: "truncated", limit: "turns", at: turn } as const }),
      };
    },
  };
}

export const teaHouse: Environment = defineEnvironment({
  name: "tea-house",
  summary: "prepare what a guest orders, step by step, without knowing the recipes",
  abilities: new Set(["stateKey", "legal"] as const),
  roles: ["agent"],
  splits: ["train"],
  limits: { turns: patience, actionTokens: 1 },
  tasks: () =>
    orders.map((drink) => ({
      id: `tea-house/${drink}`,
      prompt: [{ role: "user", content: `${drink} please` }],
      metadata: { drink },
      seed: randomStream("tea-house").split(drink).seed,
    })),
  start: async (task) => start(task),
  vocabulary: () => ["please step 0 1 2", ...orders, ...actions],
  verify: async (_task, { end }) => ({ outcome: end.kind === "done" ? 1 : 0 }),
});
