/** Orders of one to four choices, which share what is learnt of each choice. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Choices of a shop, wishes for each, and buttons to fulfil them with. */
const [slots, wishes, buttons] = [4, 5, 5];
/** Orders of training, and of the test, of each length. */
const perLength = 24;
const words = Array.from({ length: buttons }, (_, b) => `b${b}`);

/** The wishes of an order, by slot, and the button that fulfils each. */
interface Order {
  readonly wanted: readonly number[];
  readonly right: readonly string[];
}
export const orderOf = (task: Task): Order => task.metadata as unknown as Order;

/** What is seen before the choice for a slot: the wish, and how many follow. */
export const seenAt = (task: Task, slot: number): string => {
  const { wanted } = orderOf(task);
  return `slot ${slot} wants v${wanted[slot]} then ${wanted.length - 1 - slot} more`;
};

/**
 * "slot 0 wants v3 then 2 more": one of five buttons fulfils a wish in a slot, the same in every order. An order is right, and
 * pays 1, where every choice is; a wrong choice shows only in the end.
 */
export function shop(seed: number): Environment {
  const rightOf = (slot: number, wish: number): string =>
    words[randomStream(seed).split("button", slot, wish).below(buttons)]!;
  const taskAt = (split: string, index: number): Task => {
    const random = randomStream(seed).split("order", split, index);
    const length = 1 + (index % slots);
    const wanted = Array.from({ length }, () => random.below(wishes));
    const task: Task = {
      id: `shop/${split}/${index}`,
      prompt: [],
      metadata: { wanted, right: wanted.map((wish, slot) => rightOf(slot, wish)) },
      seed: random.seed,
    };
    return { ...task, prompt: [{ role: "user", content: seenAt(task, 0) }] };
  };
  const outcomeOf = (task: Task, said: readonly string[]): number => {
    const { right } = orderOf(task);
    return said.length === right.length && right.every((word, slot) => word === said[slot]) ? 1 : 0;
  };
  return defineEnvironment({
    name: "shop",
    summary: "fulfil an order of one to four wishes; only a whole order pays",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: slots, actionTokens: 1 },
    vocabulary: () => [
      "slot wants then more",
      ...words,
      ...Array.from({ length: wishes }, (_, v) => `v${v}`),
      ...Array.from({ length: slots }, (_, s) => `${s}`),
    ],
    tasks: (split) =>
      split === "train" || split === "test"
        ? Array.from({ length: slots * perLength }, (_, i) => taskAt(split, i))
        : [],
    expert: (task, conversation) =>
      orderOf(task).right[conversation.filter(({ role }) => role === "assistant").length] ?? words[0]!,
    start: async (task, random) =>
      machine<readonly string[]>(
        {
          see: (said) => ({
            messages: said.length === 0 ? [] : [{ role: "user", content: seenAt(task, said.length) }],
            stateKey: seenAt(task, said.length),
            legal: words,
          }),
          act: (said, action) => {
            const next = [...said, action];
            if (next.length < orderOf(task).right.length) return { next };
            const outcome = outcomeOf(task, next);
            return {
              next,
              rewards: { outcome },
              end: { kind: "done", reason: outcome === 1 ? "right" : "wrong", success: outcome === 1 },
            };
          },
        },
        [],
        random,
      ),
    verify: async (task, { turns }) => ({
      outcome: outcomeOf(
        task,
        turns.map(({ action }) => action.content.trim()),
      ),
    }),
  });
}

/** A row for each slot and wish, whatever else is ordered, and one for each slot and length of the rest. */
export const shopPolicy = {
  context: "message",
  features: (context: readonly string[]) => {
    const at = context.indexOf("slot");
    const [slot, wish, more] = [context[at + 1], context[at + 3], context[at + 5]];
    return [`${slot} ${wish}`, `${slot} then ${more}`];
  },
  prior: (_context: readonly string[], word: string) => (words.includes(word) ? 0 : -1e9),
} as const;
