/** What an agent's requests have in common: where one goes on from the last, and where it begins another conversation. */
import { keyOf } from "../../common/text/toolCalls.ts";
import type { Message } from "../../core/types.ts";
import type { Observation } from "../environment.ts";
import type { Completion, Reply } from "./reply.ts";
import type { ChatCall } from "./request.ts";

/** The conversation of one agent, call after call. */
export interface Dialogue {
  /** What a call says that was not said before, or all of it. */
  hear(call: ChatCall): Observation;
  /** What came back for the call heard last. */
  said(completion: Completion, reply: Reply): void;
}

/**
 * A call goes on where it repeats the last call's messages and the reply to it word for word, and adds some. Arguments of
 * tool calls count by their value, since clients write them anew. Every other call is a whole conversation; replies of
 * before that it repeats stand in it as they were sampled.
 */
export function dialogue(): Dialogue {
  let heard: readonly string[] = [];
  let reply: string | undefined;
  /** What was sampled, by what the client saw of it. */
  const raw = new Map<string, Message>();
  return {
    hear({ messages, maxTokens, stop }) {
      const keys = messages.map(keyOf);
      const known = reply === undefined ? [] : [...heard, reply];
      const goesOn =
        known.length > 0 && keys.length > known.length && known.every((key, i) => key === keys[i]);
      heard = keys;
      reply = undefined;
      return {
        messages: goesOn ? messages.slice(known.length) : messages.map((m, i) => raw.get(keys[i]!) ?? m),
        whole: !goesOn,
        ...(maxTokens === undefined ? {} : { maxTokens }),
        ...(stop === undefined ? {} : { stop }),
      };
    },
    said({ text, toolCalls }, { message }) {
      reply = keyOf(message);
      raw.set(reply, { role: "assistant", content: text, ...(toolCalls ? { toolCalls } : {}) });
    },
  };
}
