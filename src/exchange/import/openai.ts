import { toolOf } from "../../common/text/chatWire.ts";
import { withTools } from "../../common/text/systemMessage.ts";
import { type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import { type Entry, type Importer, ignored } from "./entry.ts";
import { demonstrations, example, preference } from "./examples.ts";
import { conversationOf, type Fields, messageIn, repliesOf, timeOf } from "./given.ts";
import { invalid } from "./records.ts";

/**
 * OpenAI-style JSON lines:
 *
 * - chat fine-tuning, `{messages, tools?}`: every reply is a demonstration, except those of weight 0;
 * - preference fine-tuning, `{input: {messages, tools?}, preferred_output, non_preferred_output}`;
 * - stored completions, `{object: "chat.completion", choices, messages}`, and logs or batches of calls,
 *   `{request | body, response}`: served responses without feedback.
 */
export function openai(file: string): Importer {
  return {
    entries({ value, line }) {
      const row = objectOf(value) ?? {};
      if (row.preferred_output !== undefined || row.non_preferred_output !== undefined)
        return pairOf(row, file, line);
      const request = objectOf(row.request) ?? objectOf(row.body);
      const answer = objectOf(row.response);
      if (request && answer) return served(request, objectOf(answer.body) ?? answer, row);
      if (row.choices !== undefined) return served(row, row, row);
      if (!Array.isArray(row.messages)) {
        throw invalid(
          file,
          line,
          "a record without messages",
          "messages, preferred_output, or a request with its response",
        );
      }
      const messages = conversationOf({ messages: row.messages, tools: row.tools ?? row.functions ?? [] });
      if (!messages) throw invalid(file, line, "invalid messages", "objects with role and content");
      // tools may be in a separate message before the others
      const shift = messages.length - row.messages.length;
      const weight = (place: number): number =>
        numberOf(objectOf(listOf(row.messages)[place - shift])?.weight) ?? 1;
      const made = demonstrations(messages, "openai", 0, (place) => weight(place) > 0);
      return made.length > 0 ? made : ignored("conversation without a reply");
    },
  };
}

function pairOf(row: Fields, file: string, line: number): readonly Entry[] {
  const prompt = conversationOf(row.input);
  const [chosen, ...more] = listOf(row.preferred_output);
  const [rejected, ...others] = listOf(row.non_preferred_output);
  if (!prompt || chosen === undefined || rejected === undefined) {
    throw invalid(
      file,
      line,
      "a preference without a side or its input",
      "input, preferred_output and non_preferred_output",
    );
  }
  if (more.length + others.length > 0) return ignored("preference between replies of several messages");
  return preference(prompt, messageIn(chosen), messageIn(rejected), "openai");
}

/** A call and its response. */
function served(request: Fields, answer: Fields, record: Fields): readonly Entry[] {
  const said = conversationOf(request.messages ?? request.input);
  const choices = repliesOf(answer);
  if (!said) return ignored("completion without its messages");
  if (choices.length === 0) return ignored("call without an answer");
  const prompt = withTools(
    said,
    listOf(request.tools).flatMap((tool: Json) => toolOf(tool)),
  );
  const { draft } = example(
    prompt,
    choices.map((choice) => choice.message),
    "openai",
  );
  const id = textOf(answer.id) ?? textOf(record.custom_id);
  const usage = objectOf(answer.usage);
  const [input, output] = [numberOf(usage?.prompt_tokens), numberOf(usage?.completion_tokens)];
  const metadata = Object.entries(objectOf(answer.metadata) ?? objectOf(request.metadata) ?? {});
  const user = textOf(request.user);
  return [
    {
      kind: "response",
      draft: {
        ...draft,
        ...(id === undefined ? {} : { id: `openai:${id}`, session: `openai:${id}` }),
        ...(user === undefined ? {} : { user }),
        at: timeOf(answer.created) ?? 0,
        model: textOf(answer.model) ?? textOf(request.model) ?? "",
        choices,
        ...(input === undefined || output === undefined ? {} : { usage: { input, output } }),
        tags: Object.fromEntries(metadata.flatMap(([name, v]) => (typeof v === "string" ? [[name, v]] : []))),
      },
    },
  ];
}
