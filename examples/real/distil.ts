// Distilling a larger model's replies: how it sorts the tickets of a help desk. replies.jsonl holds replies that a larger model
// wrote once; calls of yours that the gateway recorded are such a file after `whetstone export --to messages`.
// By imitation (sft), and from there on-policy: the model writes, and is drawn towards what it would have written had it seen a
// reply that was right (sdpo).
//
//     whetstone train --env examples/real/distil.ts --method sft --model SmolLM2-135M-Instruct.Q4_1.gguf --lora 16 --tasks 16 --iterations 40
//     whetstone train --env examples/real/distil.ts --method sdpo --model RUN/final --lora 16 --tasks 8 --budget 4m
import { readFileSync } from "node:fs";
import { defineEnvironment, type Environment, paid, type Task } from "../../src/index.ts";

interface Recorded {
  readonly reply: string;
}

const replies = readFileSync(new URL("replies.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n");
const asked =
  "Sort this ticket. Reply with its category (billing, delivery, account or product), low or high, and why.";

const tasks = replies.map((line, index): Task<Recorded> => {
  const [ticket, reply] = JSON.parse(line).messages;
  return {
    id: `ticket/${index}`,
    prompt: [{ role: "user", content: `${asked}\n\n${ticket.content}` }],
    metadata: { reply: reply.content },
    seed: index,
  };
});

/** What a ticket is sorted under; the words after the colon are free. */
const labelOf = (reply: string): string => reply.slice(0, Math.max(0, reply.indexOf(":")));

const tickets: Environment<Recorded> = {
  name: "tickets-distilled",
  summary: "sort tickets as a larger model did",
  roles: ["agent"],
  splits: ["train", "test"],
  abilities: new Set(["replay", "expert"]),
  limits: { turns: 1, actionTokens: 24 },
  tasks: (split) =>
    tasks.filter((_, index) => (split === "train" && index % 3 > 0) || (split === "test" && index % 3 === 0)),
  start: async ({ metadata: { reply } }) => ({
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    act: async ({ content }) => {
      const success = labelOf(content) === labelOf(reply);
      return {
        rewards: { outcome: Number(success) },
        text: `The best reply is: ${reply}`,
        end: { kind: "done", reason: success ? "as the larger model" : "otherwise", success },
      };
    },
  }),
  expert: ({ metadata: { reply } }) => reply,
  // for methods that learn from pairs
  prefer: async (_, first, second) => (1 + Math.sign(paid(first) - paid(second))) / 2,
};

export default defineEnvironment(tickets);
