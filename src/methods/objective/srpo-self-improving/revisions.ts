/** Turns a reply into a revision of another one: the same tokens, after a prompt that shows a draft. */

import { rewritten } from "../../../common/tokens/rewrite.ts";
import type { Codec } from "../../../core/model.ts";
import type { Id, Message, Trajectory } from "../../../core/types.ts";

/** Name of a reply as a revision of a draft. */
export const revisionId = (reply: Id, draft: Id): Id => `${reply} after ${draft}`;

/** The conversation that requests an improvement: the prompt, the draft, and the instruction. */
export const asksToImprove = (
  prompt: readonly Message[],
  draft: Message,
  instruction: string,
): readonly Message[] => [...prompt, draft, { role: "user", content: instruction }];

/**
 * The trajectory of one reply, put after {@link asksToImprove} of a draft. Its log-probabilities are unknown.
 * @param draft any trajectory of the same task; its last action is what is shown. May be the reply itself.
 */
export function revision(
  reply: Trajectory,
  draft: Trajectory,
  codec: Codec,
  instruction: string,
): Trajectory {
  const shown = draft.turns.at(-1)?.action ?? { role: "assistant", content: "" };
  return rewritten(reply, revisionId(reply.id, draft.id), codec, (prompt) =>
    asksToImprove(prompt, shown, instruction),
  );
}
