/** Who comes to buy a car: a limit that nobody is told, and a temper that shows in how they talk. */
import type { Message, Task } from "../../core/types.ts";

/** Cars on offer with their list prices, in thousands. */
export const listPrices: Readonly<Record<string, number>> = {
  compact: 20,
  sedan: 30,
  van: 36,
  truck: 44,
  roadster: 60,
};

export const tempers = ["plain", "haggler", "careful", "hasty"] as const;
export type Temper = (typeof tempers)[number];

/** What only the buyer knows. */
export interface Wish {
  readonly car: string;
  /** Most that they pay, in thousands, before anybody told them more. */
  readonly limit: number;
  readonly temper: Temper;
}

export const outputRequestOf = ({ metadata }: Task): Wish => ({
  car: String(metadata.car),
  limit: Number(metadata.limit),
  temper: tempers.find((t) => t === metadata.temper) ?? "plain",
});

/** What a warranty is worth to a careful buyer, and how far below their limit hagglers begin, in thousands. */
const [warranty, bluff] = [3, 4];

/** Most that can be got for the car. */
export const bestPrice = ({ limit, temper }: Wish): number => limit + (temper === "careful" ? warranty : 0);

const hints: Readonly<Record<Temper, string>> = {
  plain: "what does it cost",
  haggler: "i never pay the first price",
  careful: "i worry about repairs",
  hasty: "i do not have much time",
};
export const opening = ({ car, temper }: Wish): string => `i am looking for a ${car} . ${hints[temper]}`;

/** What a dealer's words come to. */
export type Move =
  | { readonly kind: "offer"; readonly car: string; readonly price: number }
  | { readonly kind: "ask" }
  | { readonly kind: "warranty" }
  | { readonly kind: "unclear" };

/** Reads words of a dealer: an offer is the first car and the last number named. */
export function moveIn(text: string): Move {
  const words = text.toLowerCase().split(/[^a-z0-9]+/);
  const car = words.find((word) => Object.hasOwn(listPrices, word));
  const price = words.findLast((word) => /^[1-9]\d?$/.test(word));
  if (car !== undefined && price !== undefined) return { kind: "offer", car, price: Number(price) };
  if (words.includes("warranty")) return { kind: "warranty" };
  return words.includes("ask") || words.includes("budget") ? { kind: "ask" } : { kind: "unclear" };
}

const replies = {
  deal: "deal",
  goodbye: "goodbye",
  less: "come down a little and we can talk",
  warranty: "that is good to know",
  shrug: "i do not mind",
  unclear: "i do not understand",
};
/** All that buyers may say, for a vocabulary. */
export const buyersWords: readonly string[] = [
  ...Object.values(hints),
  ...Object.values(replies),
  "i am looking for a too much , i would pay want .",
];

/** Plays a buyer: the words so far, the dealer's last; an answer that begins with `deal` buys, one with `goodbye` leaves. */
export type Buyer = (task: Task, conversation: readonly Message[]) => Promise<string>;

/**
 * The scripted buyer, who says `deal` to an offer of the car wanted at no more than the limit, and otherwise what they
 * would pay. Hagglers say less than they would pay, and refuse any first offer. Careful ones pay 3 more once they were
 * told of a warranty. Hasty ones leave at the second thing that they do not like.
 */
export const scriptedBuyer: Buyer = async (task, conversation) => answer(outputRequestOf(task), conversation);

function answer(wish: Wish, conversation: readonly Message[]): string {
  const moves = conversation.flatMap((m) => (m.role === "assistant" ? [moveIn(m.content)] : []));
  const now = moves.at(-1) ?? { kind: "unclear" };
  const { car, temper } = wish;
  const told = moves.some((move) => move.kind === "warranty");
  const limit = told ? bestPrice(wish) : wish.limit;
  const pays = `i would pay ${temper === "haggler" ? limit - bluff : limit}`;
  switch (now.kind) {
    case "ask":
      return pays;
    case "warranty":
      return temper === "careful" ? replies.warranty : replies.shrug;
    case "unclear":
      return replies.unclear;
    case "offer": {
      if (isWelcome(wish, moves, moves.length - 1)) return replies.deal;
      const refused = moves.filter((move, i) => move.kind === "offer" && !isWelcome(wish, moves, i)).length;
      if (temper === "hasty" && refused >= 2) return replies.goodbye;
      if (now.car !== car) return `i want a ${car}`;
      return now.price > limit ? `too much , ${pays}` : replies.less;
    }
  }
}

/** Whether the buyer takes the offer that is the dealer's move number `at`. */
function isWelcome(wish: Wish, moves: readonly Move[], at: number): boolean {
  const offer = moves[at];
  if (offer?.kind !== "offer" || offer.car !== wish.car) return false;
  const before = moves.slice(0, at);
  const limit = before.some((move) => move.kind === "warranty") ? bestPrice(wish) : wish.limit;
  const cameDown = before.some(
    (move) => move.kind === "offer" && move.car === wish.car && move.price > offer.price,
  );
  return offer.price <= limit && (wish.temper !== "haggler" || cameDown);
}
