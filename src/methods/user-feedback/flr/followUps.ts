/** What a user might say next, as tokens whose likelihood can be asked for. */
import { WhetstoneError } from "../../../core/errors.ts";
import type { Codec } from "../../../core/model.ts";
import type { Message } from "../../../core/types.ts";

/**
 * Who says a follow-up. "user": the user's next turn, where the chat template puts it. "swapped": users and assistants
 * change places, so that a model which only ever learnt to be the assistant plays the user; it is asked first.
 */
export type Speaker = "user" | "swapped";

/** What a model that plays the user is asked. */
export const askedToReact = "Say what you think of the answers that you get.";

/**
 * A conversation up to where a follow-up begins, and the follow-up itself.
 * @throws WhetstoneError `shape.mismatch` where nothing of the text is left in tokens.
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
    got: `"${text}", of which no token is left`,
    expected: "a follow-up of one token or more",
    mend: "Leave out follow-ups that are empty.",
  });
}

/** The same conversation seen from the other side, after the question that makes a model play the user. */
const swapped = (conversation: readonly Message[]): readonly Message[] => [
  { role: "user", content: askedToReact },
  ...conversation.map((m): Message => {
    if (m.role !== "user" && m.role !== "assistant") return m;
    return { role: m.role === "user" ? "assistant" : "user", content: m.content };
  }),
];

/** The text is what the rendered conversation has more with it than with an empty message in its place. */
function inTemplate(codec: Codec, conversation: readonly Message[], text: string) {
  const rendered = (content: string): Int32Array => codec.open([...conversation, { role: "user", content }]);
  const [whole, empty] = [rendered(text), rendered("")];
  let from = 0;
  while (from < empty.length && whole[from] === empty[from]) from++;
  let after = 0;
  while (after < empty.length - from && whole.at(-1 - after) === empty.at(-1 - after)) after++;
  return { prompt: whole.subarray(0, from), target: whole.subarray(from, whole.length - after) };
}
