import { toolOf } from "../../common/text/chatWire.ts";
import { numberIn } from "../../common/text/numberIn.ts";
import { withTools } from "../../common/text/systemMessage.ts";
import { keyOf } from "../../common/text/toolCalls.ts";
import { type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import type { Message } from "../../core/types.ts";
import { type Entry, type Importer, ignored } from "./entry.ts";
import { demonstrations, judged, preference, rewarded } from "./examples.ts";
import { conversationOf, type Fields, unwrapped } from "./given.ts";
import { invalid } from "./records.ts";

/**
 * Datasets in the formats of TRL, conversational (lists of messages) or standard (texts: a prompt is what a user says):
 *
 * - `{messages}` and `{prompt, completion}` are demonstrations;
 * - `{messages, reward}` is a conversation with a reward: its replies need not be right;
 * - `{prompt, chosen, rejected}` is a preference; without `prompt`, the common prefix of both sides is the prompt;
 * - `{prompt, completion, label}` is a reply labelled good or bad.
 *
 * A prompt only, a text only and stepwise labels are not training data here; they are skipped and counted.
 */
export function trl(file: string): Importer {
  return {
    entries({ value, line }) {
      const row = objectOf(value) ?? {};
      const tools = listOf(unwrapped(row.tools)).flatMap((tool: Json) => toolOf(tool));
      const prompt = (messages: readonly Message[]): readonly Message[] => withTools(messages, tools);
      if (row.chosen !== undefined && row.rejected !== undefined) {
        const [chosen, rejected] = [sideOf(row.chosen), sideOf(row.rejected)];
        const asked = row.prompt === undefined ? undefined : (conversationOf(row.prompt) ?? []);
        return pairOf(row, asked, chosen, rejected, prompt) ?? ignored("pair of more than one reply a side");
      }
      if (row.completions !== undefined) return ignored("stepwise labels");
      if (row.prompt !== undefined && row.completion !== undefined) {
        const asked = conversationOf(row.prompt);
        const said = sideOf(row.completion);
        const [reply, ...more] = said;
        if (!asked || !reply)
          throw invalid(file, line, "an empty prompt or completion", "texts or lists of messages");
        if (row.label === undefined)
          return demonstrations([...prompt(asked), ...said], "trl", prompt(asked).length);
        const good = labelOf(row.label);
        if (good === undefined)
          throw invalid(file, line, `the label ${JSON.stringify(row.label)}`, "true or false");
        return more.length > 0
          ? ignored("label on several messages")
          : judged(prompt(asked), reply, good, "trl");
      }
      if (row.messages !== undefined) {
        const messages = conversationOf(row.messages);
        if (!messages) throw invalid(file, line, "invalid messages", "objects with role and content");
        const reward = rewardIn(row.reward);
        if (Number.isNaN(reward)) {
          throw invalid(file, line, `the reward ${JSON.stringify(row.reward)}`, "a number, or none");
        }
        const made =
          reward === undefined
            ? demonstrations(prompt(messages), "trl")
            : rewarded(prompt(messages), reward, "trl", textOf(row.id));
        return made.length > 0 ? made : ignored("conversation without a reply");
      }
      if (row.prompt !== undefined) return ignored("prompt alone");
      if (row.text !== undefined) return ignored("text alone");
      const names = Object.keys(row).join(", ");
      throw invalid(
        file,
        line,
        `the columns ${names}`,
        "messages, prompt and completion, or chosen and rejected",
      );
    },
  };
}

/** A side as messages; a text is a single reply. */
const sideOf = (value: Json): readonly Message[] => {
  const given = unwrapped(value);
  return typeof given === "string" ? [{ role: "assistant", content: given }] : (conversationOf(given) ?? []);
};

/** Without a stated prompt, the prompt is the common prefix of both sides. */
function pairOf(
  row: Fields,
  asked: readonly Message[] | undefined,
  chosen: readonly Message[],
  rejected: readonly Message[],
  withIts: (messages: readonly Message[]) => readonly Message[],
): readonly Entry[] | undefined {
  if (asked === undefined && typeof row.chosen === "string" && typeof row.rejected === "string") {
    const n = sharedText(row.chosen, row.rejected);
    const reply = (text: string): Message => ({ role: "assistant", content: text.slice(n) });
    const prompt: Message = { role: "user", content: row.chosen.slice(0, n) };
    return preference(withIts([prompt]), reply(row.chosen), reply(row.rejected), "trl");
  }
  const shared = asked ? 0 : sharedMessages(chosen, rejected);
  const prompt = asked ?? chosen.slice(0, shared);
  const [good, ...more] = chosen.slice(shared);
  const [bad, ...others] = rejected.slice(shared);
  if (!good || !bad || more.length + others.length > 0) return undefined;
  return preference(withIts(prompt), good, bad, "trl");
}

function sharedMessages(a: readonly Message[], b: readonly Message[]): number {
  let n = 0;
  while (n < Math.min(a.length, b.length) - 1 && keyOf(a[n]!) === keyOf(b[n]!)) n++;
  return n;
}

/** Length of the common prefix, up to the end of a word, so that no word is cut. */
function sharedText(a: string, b: string): number {
  let n = 0;
  while (n < Math.min(a.length, b.length) && a[n] === b[n]) n++;
  while (n > 0 && !/\s/.test(a[n - 1]!)) n--;
  return n;
}

/** Also parses text, for CSV; undefined if absent, NaN if invalid. */
function rewardIn(value: Json | undefined): number | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return numberOf(value) ?? numberIn(typeof value === "string" ? value : "");
}

function labelOf(value: Json): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === 1 || value === 0) return value === 1;
  return typeof value === "string" && /^(true|false)$/i.test(value)
    ? value.toLowerCase() === "true"
    : undefined;
}
