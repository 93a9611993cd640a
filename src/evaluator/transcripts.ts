/** A file of transcripts: a JSON object a line. */
import { z } from "zod";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Message } from "../core/types.ts";

const called = z.object({
  id: z.string(),
  function: z.object({ name: z.string(), arguments: z.unknown() }),
});
const message = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string().nullish(),
  name: z.string().optional(),
  tool_calls: z.array(called).optional(),
  tool_call_id: z.string().optional(),
});
const conversation = z.object({ id: z.string().min(1).optional(), messages: z.array(message).min(1) });
const single = z.object({ id: z.string().min(1).optional(), prompt: z.string(), reply: z.string() });

/** A conversation with at least one message of the assistant. */
export interface TranscriptLine {
  /** Its own, or "line 7". */
  readonly id: string;
  readonly messages: readonly Message[];
}

/**
 * Transcripts from a text of JSON lines, `{"messages": [{"role", "content"}, …]}` in the form of OpenAI's API, or
 * `{"prompt", "reply"}`; other fields do not count, and neither do empty lines.
 * @param where the file, for errors. @throws WhetstoneError `import.invalid` that names the line.
 */
export function readTranscripts(text: string, where: string): readonly TranscriptLine[] {
  const ids = new Set<string>();
  const read = text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .flatMap((line, i) => (line.trim() === "" ? [] : [transcriptOf(line, i + 1, where)]));
  for (const { id } of read) {
    if (ids.has(id)) throw broken(where, `the id "${id}" twice`, "an id of its own for each transcript");
    ids.add(id);
  }
  if (read.length === 0) throw broken(where, "no transcripts", form);
  return read;
}

const form =
  'a JSON object a line: {"messages": [{"role", "content"}, …]} with a message of the assistant, or {"prompt", "reply"}';

function transcriptOf(line: string, number: number, where: string): TranscriptLine {
  const at = `${where}, line ${number}`;
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (e) {
    throw broken(at, `text that is no JSON (${messageOf(e)})`, form);
  }
  const has = (key: string): boolean => typeof row === "object" && row !== null && key in row;
  if (!has("messages")) {
    const { id = `line ${number}`, prompt, reply } = fitting(single, row, at);
    return {
      id,
      messages: [
        { role: "user", content: prompt },
        { role: "assistant", content: reply },
      ],
    };
  }
  const { id = `line ${number}`, messages } = fitting(conversation, row, at);
  if (!messages.some(({ role }) => role === "assistant"))
    throw broken(at, "messages without one of the assistant", form);
  return { id, messages: messages.map(messageFrom) };
}

const messageFrom = ({
  role,
  content,
  name,
  tool_calls,
  tool_call_id,
}: z.output<typeof message>): Message => ({
  role,
  content: content ?? "",
  ...(name !== undefined && { name }),
  ...(tool_calls && {
    toolCalls: tool_calls.map(({ id, function: { name, arguments: given } }) => ({
      id,
      name,
      arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
    })),
  }),
  ...(tool_call_id !== undefined && { toolCallId: tool_call_id }),
});

function fitting<T>(schema: z.ZodType<T>, row: unknown, at: string): T {
  const read = schema.safeParse(row);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const place = issue && issue.path.length > 0 ? `"${issue.path.join(".")}": ` : "";
  throw broken(at, `${place}${issue?.message ?? "another form"}`, form);
}

const broken = (where: string, got: string, expected: string): WhetstoneError =>
  new WhetstoneError("import.invalid", { where, got, expected, fix: "Correct the file." });
