/** Tools as text, for models whose chat template has no place for them: offers, calls and results in the form of Hermes and Qwen. */
import { jsonOrText, onlyOffers } from "../../common/text/toolCalls.ts";
import type { Message, Tool } from "../../core/types.ts";
import { toolAsTemplateSees } from "./chatTemplate.ts";

/** A template variable: if it is true, tools are written into the text of the messages. A trained model keeps it. */
export const toolsInTextVariable = "tools_in_text";

/** What a model is told about the tools. Its replies are parsed by `readCalls`. */
const offer = (tools: readonly Tool[]): string => {
  if (tools.length === 0) return "";
  return [
    "You can call these tools:",
    "<tools>",
    ...tools.map((tool) => JSON.stringify(toolAsTemplateSees(tool))),
    "</tools>",
    "To call one, reply with its name and arguments as JSON between tags:",
    "<tool_call>",
    '{"name": "NAME", "arguments": {"PARAMETER": "VALUE"}}',
    "</tool_call>",
  ].join("\n");
};

const between = (tag: string, text: string): string => `<${tag}>\n${text}\n</${tag}>`;
const paragraphs = (...texts: readonly string[]): string => texts.filter((t) => t !== "").join("\n\n");

/** The same conversation without the fields that only some templates read. Results that follow each other become one message. */
export function toolsAsText(messages: readonly Message[]): readonly Message[] {
  const out: Message[] = [];
  /** Of messages that offer tools and say nothing; the next system message takes them over. */
  let offered = "";
  for (const [i, message] of messages.entries()) {
    const { role, content, tools = [], toolCalls = [] } = message;
    const last = out.at(-1);
    if (onlyOffers(message)) {
      offered = paragraphs(offered, offer(tools));
      if (offered === "" || messages[i + 1]?.role === "system") continue;
      out.push({ role: "system", content: offered });
      offered = "";
    } else if (role === "tool") {
      const result = between("tool_response", content);
      if (last?.role === "user" && messages[i - 1]?.role === "tool")
        out[out.length - 1] = { role: "user", content: `${last.content}\n${result}` };
      else out.push({ role: "user", content: result });
    } else {
      const calls = toolCalls.map(({ name, arguments: given }) =>
        between("tool_call", JSON.stringify({ name, arguments: jsonOrText(given) })),
      );
      const text = paragraphs(content, offered, offer(tools), calls.join("\n"));
      offered = "";
      out.push({ role, content: text, ...(message.name !== undefined && { name: message.name }) });
    }
  }
  return out;
}
