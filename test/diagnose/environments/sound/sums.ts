/** An ordinary agent function: one call of its model, and the answer is right or not. */
import OpenAI from "openai";
import { agent } from "../../../../src/env/agent/agent.ts";

interface Sum {
  readonly a: number;
  readonly b: number;
}

const between = (from: number, until: number): Sum[] =>
  Array.from({ length: until - from }, (_, i) => ({ a: (from + i) % 5, b: Math.floor((from + i) / 5) }));

export default agent(
  async ({
    task,
    openai,
    signal,
  }: {
    task: Sum;
    openai: { baseURL: string; apiKey: string; model: string };
    signal: AbortSignal;
  }) => {
    const client = new OpenAI({ baseURL: openai.baseURL, apiKey: openai.apiKey, maxRetries: 0 });
    const reply = await client.chat.completions.create(
      { model: openai.model, messages: [{ role: "user", content: `${task.a} plus ${task.b}` }] },
      { signal },
    );
    return reply.choices[0]?.message.content ?? "";
  },
  {
    name: "sums",
    tasks: { train: between(0, 16), test: between(16, 25) },
    reward: ({ a, b }, said) => Number(said.trim() === String(a + b)),
    prompt: ({ a, b }) => `${a} plus ${b}`,
    limits: { turns: 1, actionTokens: 2 },
    vocabulary: () => ["plus", ...Array.from({ length: 10 }, (_, i) => String(i))],
    expert: ({ a, b }) => String(a + b),
  },
);
