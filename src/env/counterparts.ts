/** Chat models as counterparts of an agent, in place of scripted ones: oracle, car buyer, chess opponent. */

import { leaksAnswer } from "../common/text/leaksAnswer.ts";
import type { Chat, ChatRequest } from "../core/chat.ts";
import type { Message, Task } from "../core/types.ts";
import { type Buyer, outputRequestOf, type Temper } from "./carDealer/buyers.ts";
import type { Opponent } from "./chess/game.ts";
import type { Oracle } from "./guessing/guessing.ts";

/**
 * A chat model that plays the other party of a conversation, with user and assistant roles swapped. It fits every world
 * option for a counterpart, whether that gets the last message or the whole conversation.
 *
 * @example carDealer({ buyer: counterpart(chat, (task) => `You want to buy a car. ${task.reference}`) })
 * @param who its system prompt: its identity and aims, which the agent never sees.
 */
export function counterpart(
  chat: Chat,
  who: (task: Task) => string,
  limits: Pick<ChatRequest, "maxTokens"> = {},
): (task: Task, heard: string | readonly Message[]) => Promise<string> {
  return async (task, heard) => {
    const talk =
      typeof heard === "string" ? [{ role: "user", content: heard } as const] : heard.flatMap(swapped);
    const messages: readonly Message[] = [{ role: "system", content: who(task) }, ...talk];
    const { message } = await chat.reply({ messages, seed: task.seed, ...limits });
    return message.content.trim();
  };
}

/** Swaps the roles of user and assistant messages; drops system messages, which are meant for the agent. */
function swapped({ role, content }: Message): Message[] {
  if (role === "assistant") return [{ role: "user", content }];
  return role === "user" ? [{ role: "assistant", content }] : [];
}

/** Replaces an answer that reveals the hidden thing. */
const withheld = "i can not say";

/**
 * Answers questions about the hidden thing of `twentyQuestions` and `guessMyCity`. An answer that contains its name is
 * withheld.
 * @example twentyQuestions({ answerer: chatAnswerer(chat) })
 */
export function chatAnswerer(chat: Chat): Oracle {
  const answer = counterpart(
    chat,
    ({ reference }) =>
      `You think of: ${reference}. Somebody finds out what it is by asking you. Answer the question truthfully in at most six words, with yes or no where that is enough. Never say the name or a part of it.`,
    { maxTokens: 40 },
  );
  const plain = (text = ""): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ");
  return async (task, question) => {
    const said = await answer(task, question);
    return leaksAnswer(plain(said), plain(task.reference)) ? withheld : said;
  };
}

const tempers: Readonly<Record<Temper, string>> = {
  plain: "You say openly what you would pay.",
  haggler: "You never take the first price, and say 4 less than you would pay.",
  careful: "You worry about repairs; once you are told of a warranty you pay 3 more.",
  hasty: "You have little time, and leave at the second offer that is no good.",
};

/**
 * The buyer of `carDealer`, with the task's car, limit and temper.
 * @example carDealer({ buyer: chatBuyer(chat) })
 */
export const chatBuyer = (chat: Chat): Buyer =>
  counterpart(
    chat,
    (task) => {
      const { car, limit, temper } = outputRequestOf(task);
      return `You want to buy a ${car}, for at most ${limit} thousand. ${tempers[temper]} Speak to the dealer in one short sentence. Begin with the word deal to accept the price named last, and only if it is within your limit; begin with the word goodbye to leave for good.`;
    },
    { maxTokens: 60 },
  );

/**
 * Plays black in `chess` and `chessEndgames`.
 * @example chess({ opponent: chatOpponent(chat) })
 */
export const chatOpponent =
  (chat: Chat): Exclude<Opponent, string> =>
  async (fen) => {
    const { message } = await chat.reply({
      messages: [
        {
          role: "system",
          content: "You play chess with black. Answer with your move alone, such as e7e5, and nothing else.",
        },
        { role: "user", content: `The position, in Forsyth-Edwards notation: ${fen}` },
      ],
      maxTokens: 12,
      temperature: 0,
    });
    return message.content;
  };
