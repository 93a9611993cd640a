// An agent written with the official `openai` client, trained as it is. Two tools, of which the second needs what the
// first one says; the policy begins as a player that mostly skips the first one and guesses. Seed 1, about 25 s of one core.
// Expect: held-out success from about 0.35 to above 0.9.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import {
  type AgentCall,
  agent,
  grpo,
  localEngine,
  randomStream,
  shuffled,
  train,
  writeCall,
} from "../src/index.ts";

type Desk = { readonly person: string; readonly room: number; readonly phone: number };

/** The tools: where somebody sits, and the telephone of a room. In other rooms stand other telephones. */
const tools: OpenAI.ChatCompletionFunctionTool[] = [
  {
    type: "function",
    function: { name: "where", parameters: { properties: { person: { type: "string" } } } },
  },
  { type: "function", function: { name: "phone", parameters: { properties: { room: { type: "string" } } } } },
];
function use(desk: Desk, { name, arguments: given }: { name: string; arguments: string }): string {
  const { person, room } = JSON.parse(given);
  if (name === "where") return person === desk.person ? `room${desk.room}` : "unknown";
  const number = /^room(\d)$/.exec(room)?.[1];
  return number === undefined ? "unknown" : `${(desk.phone + Number(number) - desk.room + 10) % 10}`;
}

/** The agent: nothing in it knows of training. */
async function operator({ task, openai }: AgentCall<Desk>): Promise<string> {
  const client = new OpenAI(openai);
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "user", content: `which number has ${task.person}` },
  ];
  for (let calls = 0; calls < 4; calls++) {
    const { choices } = await client.chat.completions.create({ model: openai.model, messages, tools });
    const { message } = choices[0]!;
    messages.push(message);
    if (!message.tool_calls) return message.content ?? "";
    for (const call of message.tool_calls) {
      if (call.type !== "function") continue;
      messages.push({ role: "tool", tool_call_id: call.id, content: use(task, call.function) });
    }
  }
  return "";
}

const people = ["ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal"];
const desks: readonly Desk[] = shuffled(
  people.flatMap((person) =>
    Array.from({ length: 80 }, (_, i) => ({ person, room: i % 8, phone: Math.floor(i / 8) })),
  ),
  randomStream("desks"),
);

/** What it takes to train it: tasks, a reward, and for a model made from scratch the words and somebody to imitate. */
const directory = agent(operator, {
  summary: "find a telephone number: first where somebody sits, then the number of that room",
  tasks: { train: desks.slice(0, 300), test: desks.slice(300, 400) },
  prompt: ({ person }) => `which number has ${person}`,
  reward: ({ phone }, said) => Number(said === `${phone}`),
  replay: true,
  limits: { turns: 4, actionTokens: 8 },
  vocabulary: () => [
    `which number has ${people.join(" ")} unknown 0 1 2 3 4 5 6 7 8 9`,
    "<tools> </tools> <function=where> <parameter=person> </parameter> </function> <function=phone> <parameter=room>",
    Array.from({ length: 8 }, (_, room) => `room${room}`).join(" "),
  ],
  expert: (desk, conversation) => {
    const last = conversation.at(-1)!;
    if (last.role !== "tool") return writeCall("where", { person: desk.person });
    return last.content.startsWith("room") ? writeCall("phone", { room: last.content }) : last.content;
  },
  flawed: (desk, conversation, random) => {
    const last = conversation.at(-1)!;
    if (last.role !== "tool" && random.next() < 0.25) return writeCall("where", { person: desk.person });
    if (last.role !== "tool") return writeCall("phone", { room: `room${random.below(8)}` });
    return last.content.startsWith("room") ? writeCall("phone", { room: last.content }) : last.content;
  },
});

export default directory;

if (import.meta.main) {
  const short = process.argv.includes("--short"); // that it runs, without the number
  const seed = Number(process.argv.find((a) => /^\d+$/.test(a)) ?? 1);
  const engine = localEngine({
    threads: 1,
    size: { width: 64, layers: 2, heads: 2, kvHeads: 2, feedForward: 128 },
  });
  const done = await train(
    {
      environment: directory,
      method: grpo.build({ tasks: short ? 4 : 16, groupSize: 8, learningRate: 1e-3 }),
      engine,
      seed,
      iterations: short ? 1 : 14,
      warmStart: { updates: short ? 4 : 300, batch: 32 },
      evaluation: { tasks: short ? 4 : 100 },
      out: join(mkdtempSync(join(tmpdir(), "whetstone-")), "directory"),
    },
    (event) => {
      if (event.type === "iteration" && event.iteration % 4 === 0) {
        console.log(`iteration ${event.iteration}: success ${event.success.toFixed(2)}`);
      }
    },
    new AbortController().signal,
  );
  await engine.dispose();

  const { mean, low, high } = done.success;
  console.log(`held-out success before ${done.before[0]!.success.mean.toFixed(3)}`);
  console.log(
    `held-out success after ${mean.toFixed(3)} (95 % interval ${low.toFixed(3)} to ${high.toFixed(3)})`,
  );
  if (!short && !(mean > 0.9)) throw new Error("the agent did not learn to ask where somebody sits");
}
