/** What lists and sums say of a response, kept beside its texts, which may be megabytes. */
import type { ResponseHead, ServedResponse } from "../core/served.ts";
import type { Message } from "../core/types.ts";
import type { ResponsesTable } from "./schema.ts";

/** Most characters of an opening. */
const mostOpened = 200;

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
    tags,
    ...(opening !== undefined && { opening: opening.toWellFormed() }),
    ...(estimated && { characters: charactersOf({ prompt, choices }) }),
  };
}

export function packHead(response: ServedResponse): string {
  const { version: _version, model: _model, status: _status, ...data } = headOf(response);
  return JSON.stringify(data satisfies HeadData);
}

/** @param head of a row that has one. */
export const unpackHead = ({
  version,
  model,
  status,
  head,
}: Pick<ResponsesTable, "version" | "model" | "status"> & { readonly head: string }): ResponseHead => ({
  version,
  model,
  status: status as ResponseHead["status"],
  ...(JSON.parse(head) as HeadData),
});

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
