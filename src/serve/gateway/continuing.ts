/** Requests that continue an earlier response by naming its id: the conversation is then the upstream's to remember. */
import type { ServedResponse } from "../../core/served.ts";
import type { Only } from "../keys.ts";
import type { Refused } from "../refusal.ts";
import type { Asked } from "./asked.ts";
import type { Identity } from "./identity.ts";

/**
 * The request with the whole conversation in its record: the earlier prompt and reply come before its own messages. Instructions
 * hold for one request, so the earlier ones are left out.
 */
export function continuing(asked: Asked, { prompt, choices }: ServedResponse): Asked {
  const isOwn = asked.prompt[0]?.role === "system";
  const [own, input] = isOwn ? [asked.prompt.slice(0, 1), asked.prompt.slice(1)] : [[], asked.prompt];
  const before = prompt[0]?.role === "system" ? prompt.slice(1) : prompt;
  const replies = choices.slice(0, 1).map(({ message }) => message);
  return { ...asked, prompt: [...own, ...before, ...replies, ...input] };
}

/**
 * The user and session of a request that continues an earlier response: that response's, unless the request names its own.
 * @returns nothing if the response is not known, or another user's: its conversation is then not that user's record. A refusal if
 * the key is for another session or user, since the upstream would read that conversation to it.
 */
export function joining(
  named: Identity,
  before: Pick<ServedResponse, "session" | "user"> | undefined,
  only: Only | undefined,
): Identity | Refused | undefined {
  if (!before) return undefined;
  const isOthers =
    (only?.session !== undefined && only.session !== before.session) ||
    (only?.user !== undefined && only.user !== before.user);
  if (isOthers) return othersResponse;
  if (named.user !== undefined && named.user !== before.user) return undefined;
  return {
    session: before.session,
    ...(before.user === undefined || named.user !== undefined ? {} : { user: before.user, isFromBody: true }),
    ...named,
  };
}

const othersResponse: Refused = {
  status: 403,
  code: "narrowed_key",
  message:
    "This key is for one session or user, and previous_response_id names a response of another. Name a response of the key's own, or use another key.",
};
