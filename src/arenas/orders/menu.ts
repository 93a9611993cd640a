/** What can be ordered, in which words people say it, and the orders of each split. */
import { type Random, randomStream, shuffled } from "../../core/random.ts";
import type { Task } from "../../core/types.ts";

export const slots = {
  dish: [
    "soup",
    "salad",
    "pasta",
    "pizza",
    "curry",
    "rice",
    "noodles",
    "stew",
    "pie",
    "burger",
    "fish",
    "toast",
  ],
  size: ["tiny", "small", "medium", "large", "huge"],
  time: ["dawn", "morning", "noon", "afternoon", "teatime", "evening", "night", "midnight"],
} as const;
export type Slot = keyof typeof slots;
export const slotNames = Object.keys(slots) as readonly Slot[];

/** A value for every slot. */
export type Order = Readonly<Record<Slot, string>>;

/** Other words that people have for some values, and what they are easily taken for. */
const otherWords: readonly (readonly [word: string, value: string, taken?: string])[] = [
  ["little", "small", "tiny"],
  ["regular", "medium", "small"],
  ["double", "large", "huge"],
  ["giant", "huge"],
  ["early", "dawn", "morning"],
  ["breakfast", "morning"],
  ["lunch", "noon"],
  ["supper", "evening", "night"],
  ["late", "night", "midnight"],
  ["broth", "soup", "stew"],
  ["greens", "salad"],
  ["spaghetti", "pasta"],
  ["ramen", "noodles", "soup"],
  ["tart", "pie"],
];

const slotOfValue = new Map(slotNames.flatMap((slot) => slots[slot].map((value) => [value as string, slot])));

/** What a word stands for; `taken`: what those take it for who do not know it. */
export interface Meaning {
  readonly slot: Slot;
  readonly value: string;
  readonly taken: string;
}

export const meanings: ReadonlyMap<string, Meaning> = new Map([
  ...[...slotOfValue].map(([value, slot]) => [value, { slot, value, taken: value }] as const),
  ...otherWords.map(
    ([word, value, taken = value]) => [word, { slot: slotOfValue.get(value)!, value, taken }] as const,
  ),
]);

/** Words for a value, its own first. */
export const wordsFor = (value: string): readonly string[] => [
  value,
  ...otherWords.flatMap(([word, meant]) => (meant === value ? [word] : [])),
];

const every: readonly Order[] = slots.dish.flatMap((dish) =>
  slots.size.flatMap((size) => slots.time.map((time) => ({ dish, size, time }))),
);

/** Orders of each split, and requests for each order. No order is in two splits. */
const shares = {
  train: { from: 40, to: every.length, requests: 2 },
  validation: { from: 0, to: 12, requests: 8 },
  test: { from: 12, to: 40, requests: 10 },
} as const;
export const splits = Object.keys(shares) as readonly (keyof typeof shares)[];

/** What a task's metadata hold: what is wanted, and which slots the request leaves out. */
export interface Wanted {
  readonly slots: Readonly<Record<string, readonly string[]>>;
  readonly goal: Order;
  readonly missing: readonly Slot[];
  readonly trained: boolean;
}
export const wantedIn = (task: Task): Wanted => task.metadata as unknown as Wanted;

export const orderText = ({ dish, size, time }: Order): string => `offer ${dish} ${size} ${time}`;

export function tasksOf(split: string): readonly Task[] {
  const share = Object.hasOwn(shares, split) ? shares[split as keyof typeof shares] : undefined;
  if (!share) return [];
  const orders = shuffled(every, randomStream("orders")).slice(share.from, share.to);
  return orders.flatMap((goal, i) =>
    Array.from({ length: share.requests }, (_, k) =>
      taskOf(`orders/${split}/${i * share.requests + k}`, goal, split === "train"),
    ),
  );
}

/** A request states each slot that it does not leave out by one word, in any order. */
function taskOf(id: string, goal: Order, trained: boolean): Task {
  const random = randomStream(id);
  const left = random.split("left").next();
  const missing = shuffled(slotNames, random.split("which")).slice(0, left < 0.1 ? 0 : left < 0.55 ? 1 : 2);
  const stated = shuffled(
    slotNames.filter((slot) => !missing.includes(slot)),
    random.split("order"),
  );
  const words = stated.map((slot) => oneOf(wordsFor(goal[slot]), random.split(slot)));
  return {
    id,
    prompt: [{ role: "user", content: words.join(" ") }],
    reference: orderText(goal),
    metadata: {
      slots,
      goal: { ...goal },
      missing: slotNames.filter((slot) => missing.includes(slot)),
      trained,
    },
    seed: random.seed,
  };
}

export const oneOf = <T>(of: readonly T[], random: Random): T => of[random.below(of.length)]!;
