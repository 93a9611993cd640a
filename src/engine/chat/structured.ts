/** Gets JSON that fits a schema from a model that writes text. */
import { z } from "zod";
import type { Chat, ChatRequest } from "../../core/chat.ts";
import { messageOf } from "../../core/errors.ts";

const fence = /```(?:json)?\s*([\s\S]*?)```/;

/** The JSON in a reply: all of it, a fenced block, or from the first to the last brace. */
function jsonIn(text: string): unknown {
  const candidates = [
    text,
    fence.exec(text)?.[1] ?? "",
    text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1),
  ];
  let failure: unknown;
  for (const candidate of candidates) {
    try {
      return JSON.parse(candidate);
    } catch (e) {
      failure ??= e;
    }
  }
  throw failure;
}

/** Asks for JSON that fits the schema, parses the reply, and lets the model correct an invalid one once. See `Chat.ask`. */
export async function askStructured<T>(
  chat: Pick<Chat, "reply">,
  request: ChatRequest,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const wanted = JSON.stringify(z.toJSONSchema(schema));
  const asks = {
    role: "system",
    content: `Answer with JSON alone, without any other words. It must fit this JSON Schema:\n${wanted}`,
  } as const;
  const first = { ...request, messages: [asks, ...request.messages] };
  const { message } = await chat.reply(first);
  const once = read(message.content, schema);
  if ("value" in once) return once.value;
  const fix = {
    role: "user",
    content: `That is not the JSON that was asked for: ${once.wrong}. Answer again, with the JSON alone.`,
  } as const;
  const repaired = await chat.reply({ ...first, messages: [...first.messages, message, fix] });
  const twice = read(repaired.message.content, schema);
  return "value" in twice ? twice.value : undefined;
}

function read<T>(text: string, schema: z.ZodType<T>): { readonly value: T } | { readonly wrong: string } {
  try {
    const result = schema.safeParse(jsonIn(text));
    return result.success ? { value: result.data } : { wrong: z.prettifyError(result.error) };
  } catch (e) {
    return { wrong: messageOf(e) };
  }
}
