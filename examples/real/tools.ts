// Tool use over three turns: look a price up, multiply, answer. The agent is an ordinary one, written with the `openai` client.
// Every task has a price of its own, so that none can be known. SmolLM2's chat template has no place for tools: they are
// written into the messages.
//
//     whetstone train --env examples/real/tools.ts --method ahpo --model SmolLM2-135M-Instruct.Q4_1.gguf --tools-in-text --lora 16 --tasks 4 --set groupSize=4 --eval-tasks 40 --budget 5m
import OpenAI from "openai";
import { type AgentCall, agent, randomStream } from "../../src/index.ts";

type Purchase = { readonly item: string; readonly count: number; readonly price: number };

const toolOf = (name: string, description: string, parameter: string): OpenAI.ChatCompletionFunctionTool => ({
  type: "function",
  function: {
    name,
    description,
    parameters: { type: "object", properties: { [parameter]: { type: "string" } }, required: [parameter] },
  },
});
const tools = [
  toolOf("price", "Price of one item in dollars.", "item"),
  toolOf("calculate", "Result of a multiplication such as 2 * 3.", "expression"),
];

/** What a tool says to a call; the model reads its errors as well. */
function use(
  { item, price }: Purchase,
  { name, arguments: given }: { name: string; arguments: string },
): string {
  const { item: asked, expression } = JSON.parse(given);
  if (name === "price") return asked === item || asked === `${item}s` ? `${price}` : `There is no ${asked}.`;
  const [, a, b] = /^(\d+) ?\* ?(\d+)$/.exec(`${expression}`) ?? [];
  return a === undefined ? "Write two numbers with * between them." : `${Number(a) * Number(b)}`;
}

/** What an episode came to: the results of its calls, and the reply. */
interface Answer {
  readonly results: readonly string[];
  readonly said: string;
}

/** The agent: nothing in it knows of training. */
async function clerk({ task, openai }: AgentCall<Purchase>): Promise<Answer> {
  const client = new OpenAI(openai);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: question(task) }];
  const results: string[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const { choices } = await client.chat.completions.create({ model: openai.model, messages, tools });
    const { message } = choices[0]!;
    messages.push(message);
    if (!message.tool_calls) return { results, said: message.content ?? "" };
    for (const call of message.tool_calls) {
      if (call.type !== "function") continue;
      const content = use(task, call.function);
      results.push(content);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  return { results, said: "" };
}

const question = ({ item, count }: Purchase): string =>
  `What do ${count} ${item}s cost? Look up the price of one ${item}, then calculate.`;

const totalOf = ({ count, price }: Purchase): string => `${count * price}`;
const isRight = (task: Purchase, { said }: Answer): boolean => said.match(/\d+/g)?.at(-1) === totalOf(task);

/** A call as `--tools-in-text` tells the model to write it. */
const written = (name: string, given: Readonly<Record<string, string>>): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`;

/** Purchases of these items; items of a split occur in that split alone. */
const purchases = (split: string, count: number, items: readonly string[]): Purchase[] =>
  Array.from({ length: count }, (_, i) => {
    const random = randomStream("purchases").split(split, i);
    const item = items[random.below(items.length)]!;
    return { item, count: 3 + random.below(17), price: 6 + random.below(44) };
  });

export default agent(clerk, {
  name: "tools",
  summary: "look a price up, calculate what several cost, and say it",
  tasks: {
    train: purchases(
      "train",
      400,
      "lamp chair table clock mirror basket carpet candle pillow blanket bottle kettle teapot spoon".split(
        " ",
      ),
    ),
    test: purchases("test", 120, "sofa vase curtain bowl pencil notebook umbrella hammer".split(" ")),
  },
  prompt: question,
  // 0.1 for the price, 0.2 for the product, 0.7 for an answer that ends in the right number
  reward: (task, answer) =>
    (answer.results.includes(`${task.price}`) ? 0.1 : 0) +
    (answer.results.includes(totalOf(task)) ? 0.2 : 0) +
    (isRight(task, answer) ? 0.7 : 0),
  success: isRight,
  expert: ({ item, count }, conversation) => {
    const [price, total] = conversation.filter(({ role }) => role === "tool").map(({ content }) => content);
    if (price === undefined) return written("price", { item });
    return total === undefined
      ? written("calculate", { expression: `${count} * ${price}` })
      : `${total} dollars`;
  },
  replay: true,
  limits: { turns: 4, actionTokens: 48 },
});
