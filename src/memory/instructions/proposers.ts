/** Proposers of instructions: a stochastic line editor, and a language model. */
import { z } from "zod";
import { abridged } from "../../common/text/abridged.ts";
import { type Chat, unlessFailed } from "../../core/chat.ts";
import type { Random } from "../../core/random.ts";
import type { InstructionProposer } from "./coEvolution.ts";

/**
 * A stand-in for a language model that edits the lines of the best instruction: each proposal inserts a line of the stock,
 * replaces a line by one, or removes a line. Lines are distinct, and at most `most`.
 * @param most largest number of lines of an instruction. Default 8.
 */
export function lineEditor(stock: readonly string[], most = 8): InstructionProposer {
  return async ({ members: [best], count, random }) =>
    Array.from({ length: count }, (_, i) =>
      editedLines(best?.text ?? "", stock, most, random.split("edit", i)),
    );
}

function editedLines(text: string, stock: readonly string[], most: number, random: Random): string {
  const lines = text === "" ? [] : text.split("\n");
  const spare = stock.filter((line) => !lines.includes(line));
  const fresh = spare[random.below(spare.length)];
  const at = random.below(lines.length);
  const kind = lines.length === 0 ? 0 : random.below(3);
  if (kind === 2 || fresh === undefined) return lines.toSpliced(at, 1).join("\n");
  if (kind === 0 && lines.length < most) return [...lines, fresh].join("\n");
  return lines.toSpliced(at, 1, fresh).join("\n");
}

const written = z.object({
  analysis: z.string().describe("why the attempts went badly, in two sentences"),
  instruction: z.string().min(1).max(4000).describe("the whole new instruction"),
});

/** Largest number of characters of an attempt's request, and of its reply, so that the prompt fits the context. */
const mostShown = 4000;

/**
 * A language model reads the best instructions and bad attempts, and writes one new instruction per proposal. A reply that
 * does not fit after one repair, or a provider failure, gives one proposal less. A spent budget stops the run.
 */
export function chatInstructions(chat: Chat): InstructionProposer {
  return async ({ members, attempts, count, random }) => {
    const content = [
      "Write a better instruction for an agent.",
      `Its best instructions so far:\n${members
        .slice(0, 3)
        .map(({ text, weight }) => `(earned ${weight.toFixed(2)}) ${text === "" ? "none" : text}`)
        .join("\n")}`,
      ...attempts.map(
        ({ asked, instruction, reply, reward }) =>
          `Instruction: ${instruction}\nAsked: ${abridged(asked, mostShown)}\nReply: ${abridged(reply, mostShown)}\nEarned: ${reward.toFixed(2)}`,
      ),
      "It must help with any request of this kind, and give away the answer to none.",
    ].join("\n\n");
    const asked = Array.from({ length: count }, async (_, i) => {
      const { seed } = random.split("instruction", i);
      const said = await chat
        .ask({ messages: [{ role: "user", content }], seed }, written)
        .catch(unlessFailed);
      return said ? [said.instruction] : [];
    });
    return (await Promise.all(asked)).flat();
  };
}
