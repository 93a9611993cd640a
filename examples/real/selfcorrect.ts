// Self-correction: a validator says what is wrong with a reply, the model tries again with its words, and the best second attempt
// is learnt as if it had been the first one (Critique-GRPO). The task is that of extract.ts, and so is what is measured: the first
// reply, without any message.
//
//     whetstone train --env examples/real/selfcorrect.ts --method critique-grpo --model SmolLM2-135M-Instruct.Q4_1.gguf --lora 16 --tasks 4 --budget 4m
import { defineEnvironment, type Environment } from "../../src/index.ts";
import extract, { keys, type Person } from "./extract.ts";

/** What a validator has to say to a reply: nothing where it is right. */
function complaints(person: Person, reply: string): readonly string[] {
  let said: unknown;
  try {
    said = JSON.parse(reply);
  } catch {
    return ["Reply with one JSON object and nothing before or after it."];
  }
  if (typeof said !== "object" || said === null) return ["Reply with one JSON object."];
  const given = said as Readonly<Record<string, unknown>>;
  return [
    ...keys
      .filter((key) => given[key] !== person[key])
      .map((key) => `"${key}" must be as in the sentence, got ${JSON.stringify(given[key])}.`),
    ...Object.keys(given)
      .filter((key) => !keys.some((known) => known === key))
      .map((key) => `Leave the key "${key}" out.`),
  ];
}

const selfcorrect: Environment<Person> = {
  ...extract,
  name: "selfcorrect",
  summary: "write the person of a sentence as JSON that a validator accepts",
  critique: async ({ metadata }, { turns }) => {
    const wrong = complaints(metadata, turns.at(-1)?.action.content ?? "");
    return wrong.length === 0
      ? { text: "This is valid.", outcome: "success" }
      : { text: ["This is not valid.", ...wrong, "Write the JSON again."].join("\n"), outcome: "failure" };
  },
};

export default defineEnvironment(selfcorrect);
