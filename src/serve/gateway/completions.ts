/** OpenAI's first completions API, read as the chat completions that its requests and answers amount to. */
import { chatMessage } from "../../common/text/chatWire.ts";
import { type Json, listOf, objectOf, textOf } from "../../core/json.ts";
import { type Asked, askedBy } from "./asked.ts";
import type { AnswerReader, Protocol } from "./protocol.ts";

export const completions: Protocol = {
  route: "/completions",
  prefix: "cmpl-",
  userOf: (body) => textOf(objectOf(body)?.user),
  read: readRequest,
  expected: "The body has no prompt. Send a completion request as OpenAI documents it.",
  reader,
};

/** Fields of the body that the record stores separately. */
const apart: ReadonlySet<string> = new Set(["prompt", "model", "user", "metadata"]);

/** The prompt is recorded as one user's message; of several prompts and of token ids, each is a part of it. */
function readRequest(body: Json | undefined): Asked | undefined {
  const given = objectOf(body);
  if (given?.prompt === undefined) return undefined;
  const { prompt } = given;
  const content = typeof prompt === "string" ? prompt : promptsOf(prompt).map(partOf);
  return askedBy(given, [chatMessage({ role: "user", content })], apart);
}

/** A list of numbers is one prompt in token ids. */
const promptsOf = (prompt: Json): readonly Json[] =>
  listOf(prompt).every((token) => typeof token === "number") ? [prompt] : listOf(prompt);

const partOf = (prompt: Json): Json =>
  typeof prompt === "string" ? { type: "text", text: prompt } : { type: "tokens", tokens: prompt };

/** `[DONE]` ends a stream, as it ends one of chat completions. */
function reader(): AnswerReader {
  return {
    isDone: () => false,
    read(value) {
      const given = objectOf(value) ?? {};
      const choices = listOf(given.choices).map((choice) => {
        const { text, index, finish_reason } = objectOf(choice) ?? {};
        return { index: index ?? 0, delta: { content: text ?? "" }, finish_reason: finish_reason ?? null };
      });
      return [{ ...given, choices }];
    },
  };
}
