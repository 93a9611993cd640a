// An agent of the AI SDK whose tools are not exported: they are seen in its first request, when it runs as a program.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

async function travel(question: string): Promise<string> {
  const { text } = await generateText({
    model: createOpenAICompatible({ name: "any", baseURL: "http://127.0.0.1:9/v1" })("gpt-5-mini"),
    instructions: "help with a journey",
    prompt: question,
    tools: {
      getWeather: tool({
        description: "the weather of a city",
        inputSchema: z.object({ city: z.string(), unit: z.enum(["celsius", "fahrenheit"]) }),
        execute: async () => "sunny",
      }),
      book_hotel: tool({
        description: "book a room",
        inputSchema: z.object({ city: z.string(), nights: z.number().int(), note: z.string().optional() }),
        execute: async () => "booked",
      }),
    },
    stopWhen: stepCountIs(5),
  });
  return text;
}

if (import.meta.main) console.log(await travel(process.argv[2] ?? ""));
