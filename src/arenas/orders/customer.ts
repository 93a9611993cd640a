/** How customers take what they are told: in words, with a thumb, in silence, and not always truly. */
import type { Random } from "../../core/random.ts";
import { meanings, type Order, oneOf, type Slot, slotNames, slots, wordsFor } from "./menu.ts";

/** Chances, each in [0, 1]. */
export const habits = {
  /** Leaves without a word after a wrong offer, and after a needless or unreadable question. */
  leaves: 0.45,
  bored: 0.25,
  /** Thanks for a wrong offer and goes, as if it were right. */
  polite: 0.1,
  /** Corrects a wrong value by its own word; else rephrases it. */
  corrects: 0.6,
  /** Gives a thumb at the end: after a right offer, a wrong one that was thanked for, a complaint, and in place of a word. */
  thumb: { right: 0.85, polite: 0.7, complaint: 0.5, leaving: 0.3 },
  /** Of these thumbs, the wrong clicks. */
  wrongClick: 0.05,
} as const;

export type Move =
  | { readonly kind: "ask"; readonly slot: Slot }
  | { readonly kind: "offer"; readonly order: Order }
  | { readonly kind: "unreadable" };

export function moveOf(content: string): Move {
  const [verb, ...words] = content.trim().split(/\s+/);
  const slot = slotNames.find((name) => name === words[0]);
  if (verb === "ask" && slot && words.length === 1) return { kind: "ask", slot };
  const [dish = "", size = "", time = "", ...more] = words;
  const order: Order = { dish, size, time };
  const known = slotNames.every((name) => (slots[name] as readonly string[]).includes(order[name]));
  return verb === "offer" && known && more.length === 0 ? { kind: "offer", order } : { kind: "unreadable" };
}

/** Slots whose value differs from what is wanted. */
export const wrongSlots = (goal: Order, order: Order): readonly Slot[] =>
  slotNames.filter((slot) => order[slot] !== goal[slot]);

/** Slots that were said in any of these texts. */
export const slotsSaid = (texts: readonly string[]): readonly Slot[] =>
  texts.flatMap((text) => text.split(" ").flatMap((word) => meanings.get(word)?.slot ?? []));

/** What a customer does: says something, or nothing; and goes, or waits for an answer. */
export interface Reaction {
  readonly text?: string;
  /** Goes, with a thumb or without. */
  readonly goes?: { readonly thumb?: 0 | 1 };
}

export const pleased = ["thanks , that helps a lot", "that is what i asked for", "you understood me well"];
const displeased = [
  "that is not what i asked for",
  "you did not understand me",
  "that does not help me at all",
];

/**
 * @param said texts of the customer so far.
 * @param last whether no other turn follows.
 * @param random stream of this moment alone.
 */
export function reactionTo(
  move: Move,
  goal: Order,
  said: readonly string[],
  last: boolean,
  random: Random,
): Reaction {
  const chance = (key: string, p: number): boolean => random.split(key).next() < p;
  const thumbs = (p: number, honest: boolean): { readonly thumb?: 0 | 1 } => {
    if (!chance("thumb", p)) return {};
    return { thumb: honest !== chance("click", habits.wrongClick) ? 1 : 0 };
  };
  const thanks = oneOf(pleased, random.split("thanks"));
  switch (move.kind) {
    case "ask": {
      if (!slotsSaid(said).includes(move.slot)) return { text: `${move.slot} ${goal[move.slot]}` };
      return chance("bored", habits.bored) ? { goes: {} } : { text: `i said ${goal[move.slot]}` };
    }
    case "unreadable":
      return chance("bored", habits.bored) ? { goes: {} } : { text: "what do you mean ?" };
    case "offer": {
      const wrong = wrongSlots(goal, move.order);
      if (wrong.length === 0) return { text: thanks, goes: thumbs(habits.thumb.right, true) };
      if (chance("polite", habits.polite)) return { text: thanks, goes: thumbs(habits.thumb.polite, true) };
      if (chance("leaves", habits.leaves)) return { goes: thumbs(habits.thumb.leaving, false) };
      if (last)
        return { text: oneOf(displeased, random.split("why")), goes: thumbs(habits.thumb.complaint, false) };
      const meant = goal[wrong[0]!];
      if (chance("corrects", habits.corrects)) return { text: `no , i meant ${meant}` };
      return { text: `${displeased[0]} , ${oneOf(wordsFor(meant).slice(-2), random.split("rephrased"))}` };
    }
  }
}

/** Texts with every word of customers' reactions, but for values and the words for them. */
export const reactionTexts: readonly string[] = [
  ...pleased,
  ...displeased,
  ...slotNames,
  "no , i meant i said what do you mean ?",
];
