/** The other party of a world (a buyer, whoever answers questions), spoken by a chat model. */
import type { Chat } from "../core/chat.ts";
import type { Message, Task } from "../core/words.ts";

/**
 * Speaks for somebody: what the agent says is what it hears, and the other way round. It fits wherever a world takes a
 * counterpart, whether that one hears the last words or the whole conversation.
 *
 * @example carDealer({ buyer: counterpart(chat, (task) => `You want to buy a car. ${task.reference}`) })
 * @param who what it is told of itself and its aims; the agent never sees it.
 */
export function counterpart(
  chat: Chat,
  who: (task: Task) => string,
): (task: Task, heard: string | readonly Message[]) => Promise<string> {
  return async (task, heard) => {
    const talk =
      typeof heard === "string" ? [{ role: "user", content: heard } as const] : heard.flatMap(swapped);
    const messages: readonly Message[] = [{ role: "system", content: who(task) }, ...talk];
    const { message } = await chat.reply({ messages, seed: task.seed });
    return message.content.trim();
  };
}

/** What one party says, the other hears; instructions to the agent are not for its counterpart. */
function swapped({ role, content }: Message): Message[] {
  if (role === "assistant") return [{ role: "user", content }];
  return role === "user" ? [{ role: "assistant", content }] : [];
}
