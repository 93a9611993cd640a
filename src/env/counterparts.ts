/** Chat models in place of the scripted counterparts of games: who answers questions, buys cars, plays black. */
import type { Chat } from "../core/chat.ts";
import type { Message } from "../core/words.ts";
import { type Buyer, type Temper, wishOf } from "./carDealer/buyers.ts";
import type { Opponent } from "./chess/game.ts";
import type { Answerer } from "./guessing/guessing.ts";

const system = (content: string): Message => ({ role: "system", content });

/** What is said in place of an answer that gives the thing away. */
const withheld = "i can not say";

/**
 * Answers questions about the hidden thing of `twentyQuestions` and `guessMyCity`. An answer in which its name stands is
 * withheld.
 * @example twentyQuestions({ answerer: chatAnswerer(chat) })
 */
export const chatAnswerer =
  (chat: Chat): Answerer =>
  async (task, question) => {
    const name = task.reference ?? "";
    const { message } = await chat.reply({
      messages: [
        system(
          `You think of: ${name}. Somebody finds out what it is by asking you. Answer the question truthfully in at most six words, with yes or no where that is enough. Never say the name or a part of it.`,
        ),
        { role: "user", content: question },
      ],
      maxTokens: 40,
      seed: task.seed,
    });
    const plain = (text: string): string => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")} `;
    return plain(message.content).includes(plain(name)) ? withheld : message.content;
  };

const tempers: Readonly<Record<Temper, string>> = {
  plain: "You say openly what you would pay.",
  haggler: "You never take the first price, and say 4 less than you would pay.",
  careful: "You worry about repairs; once you are told of a warranty you pay 3 more.",
  hasty: "You have little time, and leave at the second offer that is no good.",
};

/**
 * Buys from the agent of `carDealer`, with the wish and the temper of the task.
 * @example carDealer({ buyer: chatBuyer(chat) })
 */
export const chatBuyer =
  (chat: Chat): Buyer =>
  async (task, conversation) => {
    const wish = wishOf(task);
    const { message } = await chat.reply({
      messages: [
        system(
          `You want to buy a ${wish.car}, for at most ${wish.limit} thousand. ${tempers[wish.temper]} Speak to the dealer in one short sentence. Begin with the word deal to accept the price named last, and only if it is within your limit; begin with the word goodbye to leave for good.`,
        ),
        // who buys is the other one for the agent
        ...conversation
          .filter(({ role }) => role !== "system")
          .map(({ role, content }): Message => ({ role: role === "user" ? "assistant" : "user", content })),
      ],
      maxTokens: 60,
      seed: task.seed,
    });
    return message.content;
  };

/**
 * Plays black in `chess` and `chessEndgames`.
 * @example chess({ opponent: chatOpponent(chat) })
 */
export const chatOpponent =
  (chat: Chat): Exclude<Opponent, string> =>
  async (fen) => {
    const { message } = await chat.reply({
      messages: [
        system("You play chess with black. Answer with your move alone, such as e7e5, and nothing else."),
        { role: "user", content: `The position, in Forsyth-Edwards notation: ${fen}` },
      ],
      maxTokens: 12,
      temperature: 0,
    });
    return message.content;
  };
