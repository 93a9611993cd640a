/** Converts messages and tools into the AI SDK's form. */
import { jsonSchema, type ModelMessage, type ToolSet, tool } from "ai";
import { jsonOrText, onlyOffers } from "../../common/text/toolCalls.ts";
import type { Message, StopReason, Tool } from "../../core/types.ts";

/** @param messages in order; a tool message refers to its call by id. */
export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  const nameOf = new Map(messages.flatMap((m) => m.toolCalls ?? []).map((call) => [call.id, call.name]));
  const said = messages.filter((m) => !onlyOffers(m));
  return said.map((m): ModelMessage => {
    if (m.role === "system" || m.role === "user") return { role: m.role, content: m.content };
    if (m.role === "tool") {
      const id = m.toolCallId ?? "";
      const output = { type: "text" as const, value: m.content };
      return {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: id, toolName: m.name ?? nameOf.get(id) ?? "", output }],
      };
    }
    if (!m.toolCalls?.length) return { role: "assistant", content: m.content };
    return {
      role: "assistant",
      content: [
        ...(m.content === "" ? [] : [{ type: "text" as const, text: m.content }]),
        ...m.toolCalls.map((call) => ({
          type: "tool-call" as const,
          toolCallId: call.id,
          toolName: call.name,
          input: jsonOrText(call.arguments),
        })),
      ],
    };
  });
}

/** Tools without an `execute`: the caller runs them. */
export const toToolSet = (tools: readonly Tool[]): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters as Parameters<typeof jsonSchema>[0]) }),
    ]),
  );

const stops: Readonly<Record<string, StopReason>> = { stop: "eos", "tool-calls": "eos", length: "length" };

/** Our stop reason. Providers do not distinguish a stop string from the end of a reply. */
export const toStop = (reason: string): StopReason => stops[reason] ?? "cut";
