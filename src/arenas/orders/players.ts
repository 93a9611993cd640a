/** Scripted players of the orders world: one that serves everybody, and one with the start's mistakes. */
import type { Message } from "../../core/types.ts";
import type { Player } from "../../env/environment.ts";
import { moveOf, slotsSaid } from "./customer.ts";
import { meanings, type Order, oneOf, orderText, type Slot, slotNames, slots, wantedIn } from "./menu.ts";

const saidBy = (role: Message["role"], conversation: readonly Message[]): readonly string[] =>
  conversation.flatMap((m) => (m.role === role ? [m.content] : []));

/** Asks for what nobody said yet, then offers what is wanted. */
export const expert: Player = (task, conversation) => {
  const heard = slotsSaid(saidBy("user", conversation));
  const open = slotNames.find((slot) => !heard.includes(slot));
  return open ? `ask ${open}` : orderText(wantedIn(task).goal);
};

/** Chances of each mistake. */
const mistakes = { guesses: 0.75, misreads: 0.5, repeats: 0.6, asksAgain: 0.05 };

/**
 * Reads what was said, and goes wrong in four ways: guesses what was not said, takes words for what they are easily taken for,
 * repeats an offer that was corrected, asks for what was said.
 */
export const flawed: Player = (_task, conversation, random) => {
  const texts = saidBy("user", conversation);
  const heard = slotsSaid(texts);
  const chance = (key: string, p: number): boolean => random.split(key).next() < p;
  const before = saidBy("assistant", conversation).at(-1);
  if (before && moveOf(before).kind === "offer" && chance("repeats", mistakes.repeats)) return before;
  const asked = slotNames.find((slot) => !heard.includes(slot) && !chance(`guess ${slot}`, mistakes.guesses));
  if (asked) return `ask ${asked}`;
  if (chance("asks", mistakes.asksAgain)) return `ask ${oneOf(heard, random.split("which"))}`;
  const read = (slot: Slot): string => {
    const words = texts
      .flatMap((text) => text.split(" "))
      .filter((word) => meanings.get(word)?.slot === slot);
    const last = words.at(-1);
    if (last === undefined) return oneOf<string>(slots[slot], random.split(slot));
    const { value, taken } = meanings.get(last)!;
    return chance(`misread ${slot}`, mistakes.misreads) ? taken : value;
  };
  const order: Order = { dish: read("dish"), size: read("size"), time: read("time") };
  return orderText(order);
};
