// An agent written with the AI SDK, trained as it is. Two tools, of which the right one depends on the question; the
// policy begins as a player that reaches for the first one, whatever is asked. Seed 1, about 25 s of one core.
// Expect: held-out success from about 0.65 to above 0.9.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";
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

type Ware = {
  readonly item: string;
  readonly asked: "price" | "stock";
  readonly price: number;
  readonly stock: number;
};
const question = ({ asked, item }: Ware): string =>
  asked === "price" ? `what does a ${item} cost` : `how many of ${item} are left`;

/** The agent: nothing in it knows of training. */
async function clerk({ task, openai, signal }: AgentCall<Ware>): Promise<string> {
  const about = (what: "price" | "stock") =>
    tool({
      description: what === "price" ? "what an item costs" : "how many of an item there are",
      inputSchema: z.object({ item: z.string() }),
      execute: async ({ item }) => (item === task.item ? `${task[what]}` : "unknown"),
    });
  const { text } = await generateText({
    model: createOpenAICompatible(openai)(openai.model),
    prompt: question(task),
    tools: { price: about("price"), stock: about("stock") },
    stopWhen: stepCountIs(4),
    abortSignal: signal,
  });
  return text;
}

const items = ["apple", "bean", "cherry", "date", "fig", "grape", "lemon", "mango"];
const wares: readonly Ware[] = shuffled(
  items.flatMap((item) =>
    Array.from({ length: 100 }, (_, i): Ware => {
      const [price, stock] = [i % 10, Math.floor(i / 10)];
      return { item, asked: (price + stock) % 2 === 0 ? "price" : "stock", price, stock };
    }),
  ),
  randomStream("wares"),
);

/** What it takes to train it: tasks, a reward, and for a model made from scratch the words and somebody to imitate. */
const shop = agent(clerk, {
  summary: "answer for a shop: its prices and its stock, each by a tool of its own",
  tasks: { train: wares.slice(0, 300), test: wares.slice(300, 400) },
  prompt: question,
  reward: (ware, said) => Number(said === `${ware[ware.asked]}`),
  replay: true,
  limits: { turns: 4, actionTokens: 8 },
  vocabulary: () => [
    `what does a cost how many of are left ${items.join(" ")} unknown 0 1 2 3 4 5 6 7 8 9`,
    "<tools> </tools> <function=price> <function=stock> <parameter=item> </parameter> </function>",
  ],
  expert: ({ item, asked }, conversation) => {
    const last = conversation.at(-1)!;
    return last.role === "tool" ? last.content : writeCall(asked, { item });
  },
  flawed: ({ item, asked }, conversation, random) => {
    const last = conversation.at(-1)!;
    if (last.role === "tool") return last.content;
    return writeCall(asked === "stock" && random.next() < 0.25 ? "stock" : "price", { item });
  },
});

export default shop;

if (import.meta.main) {
  const short = process.argv.includes("--short"); // that it runs, without the number
  const seed = Number(process.argv.find((a) => /^\d+$/.test(a)) ?? 1);
  const engine = localEngine({
    threads: 1,
    size: { width: 64, layers: 2, heads: 2, kvHeads: 2, feedForward: 128 },
  });
  const done = await train(
    {
      environment: shop,
      method: grpo.build({ tasks: short ? 4 : 16, groupSize: 8, learningRate: 7e-4 }),
      engine,
      seed,
      iterations: short ? 1 : 16,
      warmStart: { updates: short ? 4 : 200, batch: 32 },
      evaluation: { tasks: short ? 4 : 100 },
      out: join(mkdtempSync(join(tmpdir(), "whetstone-")), "shop"),
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
  if (!short && !(mean > 0.9)) throw new Error("the agent did not learn which tool to take");
}
