/** Follow-ups of a user, as tokens whose likelihood a model can score. */
import { WhetstoneError } from "../../../core/errors.ts";
import type { Codec } from "../../../core/model.ts";
import type { Message } from "../../../core/types.ts";

/**
 * Role of a follow-up. "user": the user's next turn in the chat template. "swapped": user and assistant roles are swapped,
 * so that a model trained only as the assistant plays the user; an instruction comes first.
 */
export type Speaker = "user" | "swapped";

/** Instruction to a model that plays the user. */
export const askedToReact = "Say what you think of the answers that you get.";

/**
 * A conversation up to the start of a follow-up, and the follow-up itself.
 * @throws WhetstoneError `shape.mismatch` if the text has no tokens.
 */
export function followUp(
  codec: Codec,
  conversation: readonly Message[],
  text: string,
  speaker: Speaker = "user",
): { readonly prompt: Int32Array; readonly target: Int32Array } {
  const { prompt, target } =
    speaker === "user"
      ? inTemplate(codec, conversation, text)
      : { prompt: codec.open(swapped(conversation)), target: codec.encode(text) };
  if (target.length > 0) return { prompt, target };
  throw new WhetstoneError("shape.mismatch", {
    where: "followUp",
    got: `"${text}", which has no tokens`,
    expected: "a follow-up of at least one token",
    fix: "Remove empty follow-ups.",
  });
}

/** The same conversation with swapped roles, after the instruction to play the user. */
const swapped = (conversation: readonly Message[]): readonly Message[] => [
  { role: "user", content: askedToReact },
  ...conversation.map((m): Message => {
    if (m.role !== "user" && m.role !== "assistant") return m;
    return { role: m.role === "user" ? "assistant" : "user", content: m.content };
  }),
];

/** The text's tokens are those that an empty message in its place does not have. */
function inTemplate(codec: Codec, conversation: readonly Message[], text: string) {
  const rendered = (content: string): Int32Array => codec.open([...conversation, { role: "user", content }]);
  const [whole, empty] = [rendered(text), rendered("")];
  let from = 0;
  while (from < empty.length && whole[from] === empty[from]) from++;
  let after = 0;
  while (after < empty.length - from && whole.at(-1 - after) === empty.at(-1 - after)) after++;
  return { prompt: whole.subarray(0, from), target: whole.subarray(from, whole.length - after) };
}
