import { createHash } from "node:crypto";
import { randomStream } from "../core/random.ts";
import { loggedTask } from "../core/trainingExamples.ts";
import type { Message, Task } from "../core/types.ts";

/**
 * The task of a prompt. Equal conversations are one task, whoever asked, so that replies to them can be compared: its id is
 * the SHA-256 of the messages.
 */
export function taskOfPrompt(prompt: readonly Message[]): Task {
  const hash = createHash("sha256")
    .update(JSON.stringify(prompt.map(canonical)))
    .digest("hex");
  const id = loggedTask(hash.slice(0, 24));
  return { id, prompt, metadata: {}, seed: randomStream(id).seed };
}

/** The fields of a message in a fixed order, for hashing. */
const canonical = ({ role, content, name, toolCalls, toolCallId, tools }: Message) => [
  role,
  content,
  name ?? null,
  (toolCalls ?? []).map((call) => [call.id, call.name, call.arguments]),
  toolCallId ?? null,
  (tools ?? []).map((tool) => [tool.name, tool.description, JSON.stringify(tool.parameters)]),
];
