/** Messages in the form of Hugging Face's chat templates and TRL. */
import { onlyOffers, parsed } from "../../common/text/toolCalls.ts";
import type { Message, Tool } from "../../core/types.ts";

/** A conversation with its tools, as JSON text since their schemas differ from row to row. */
export interface HfConversation {
  readonly messages: readonly HfMessage[];
  readonly tools?: string;
}

export interface HfMessage {
  readonly role: Message["role"];
  readonly content: string;
  readonly name?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: "function";
    readonly function: { readonly name: string; readonly arguments: unknown };
  }[];
  readonly tool_call_id?: string;
}

/** A message that only offers tools is left out, since the tools are in a separate field. */
export function hfConversation(messages: readonly Message[]): HfConversation {
  const tools = messages.flatMap((message) => message.tools ?? []);
  return {
    messages: messages.filter((message) => !onlyOffers(message)).map(hfMessage),
    ...(tools.length > 0 ? { tools: JSON.stringify(tools.map(declared)) } : {}),
  };
}

/** Arguments of tool calls become values if they are valid JSON, as chat templates expect. */
export function hfMessage({ role, content, name, toolCalls, toolCallId }: Message): HfMessage {
  return {
    role,
    content,
    ...(name === undefined ? {} : { name }),
    ...(toolCalls && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: "function" as const,
        function: { name: call.name, arguments: parsed(call.arguments) ?? call.arguments },
      })),
    }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
  };
}

const declared = ({ name, description, parameters }: Tool) => ({
  type: "function",
  function: { name, description, parameters },
});
