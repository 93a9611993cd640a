/** What lists and sums say of a response, kept beside its texts, which may be megabytes. */
import { z } from "zod";
import type { ResponseHead, ServedResponse } from "../core/served.ts";
import type { Message } from "../core/types.ts";
import type { ResponsesTable } from "./schema.ts";

/** Most characters of an opening. */
const mostOpened = 200;

/** Most bytes of a head as it is stored: more than the gateway's own tags come to, all of them escaped. */
export const mostHeadBytes = 65_536;

/** Of the tags, those of the gateway's own; a client's may be megabytes, and no list reads them. */
const ownTags = (tags: ServedResponse["tags"]): ServedResponse["tags"] =>
  Object.fromEntries(
    Object.entries(tags)
      .filter(([name, value]) => name.startsWith("whetstone.") && name.length + value.length <= 400)
      .slice(0, 16),
  );

/** The parts of a head without a column of their own. */
type HeadData = Omit<ResponseHead, "version" | "model" | "status">;

export function headOf({
  version,
  model,
  status,
  usage,
  tags,
  prompt,
  choices,
}: ServedResponse): ResponseHead {
  const opening = prompt.find(({ role }) => role === "user")?.content.slice(0, mostOpened);
  const estimated = status !== "failed" && (!usage || status === "cut");
  return {
    version,
    model,
    status,
    ...(usage && { usage }),
    tags: ownTags(tags),
    ...(opening !== undefined && { opening: opening.toWellFormed() }),
    ...(estimated && { characters: charactersOf({ prompt, choices }) }),
  };
}

export function packHead(response: ServedResponse): string {
  const { version: _version, model: _model, status: _status, ...data } = headOf(response);
  return JSON.stringify(data satisfies HeadData);
}

const count = z.number().nonnegative();
const headData = z.object({
  usage: z.object({ input: count, output: count }).optional(),
  tags: z.record(z.string(), z.string()),
  opening: z.string().max(mostOpened).optional(),
  characters: z.object({ prompt: count, replies: count }).optional(),
});

/** Undefined for a row without a head, or with one that nobody here wrote: a list reads on. */
export function unpackHead({
  version,
  model,
  status,
  head,
}: Pick<ResponsesTable, "version" | "model" | "status" | "head">): ResponseHead | undefined {
  const { data } = headData.safeParse(parsed(head ?? ""));
  return data && { version, model, status: status as ResponseHead["status"], ...(data as HeadData) };
}

function parsed(head: string): unknown {
  try {
    return JSON.parse(head);
  } catch {
    return undefined;
  }
}

/** Characters that tokens are estimated from. */
export const charactersOf = ({
  prompt,
  choices,
}: Pick<ServedResponse, "prompt" | "choices">): NonNullable<ResponseHead["characters"]> => ({
  prompt: charactersIn(prompt),
  replies: charactersIn(choices.map(({ message }) => message)),
});

/** With calls of tools and the tools themselves. */
export const charactersIn = (messages: readonly Message[]): number =>
  messages.reduce((sum, { content, toolCalls = [], tools = [] }) => {
    const calls = toolCalls.reduce((n, call) => n + call.name.length + call.arguments.length, 0);
    return sum + content.length + calls + (tools.length > 0 ? JSON.stringify(tools).length : 0);
  }, 0);
