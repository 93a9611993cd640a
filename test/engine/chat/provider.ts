/** A local provider with the OpenAI API that can be made to fail. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { after } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

export interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly seed?: number;
  readonly tools?: readonly unknown[];
}

/** The answer to the n-th request, from 0: text, a tool call, or a raw answer. */
export type Behaviour = (
  asked: Asked,
  n: number,
  response: ServerResponse,
) => string | { readonly tool: string; readonly args: string } | undefined;

export async function provider(behave: Behaviour) {
  const asked: Asked[] = [];
  const times: number[] = [];
  const answer = (body: Asked, response: ServerResponse): void => {
    const n = asked.push(body) - 1;
    times.push(performance.now());
    const said = behave(body, n, response);
    if (said === undefined) return;
    const message =
      typeof said === "string"
        ? { role: "assistant", content: said }
        : {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name: said.tool, arguments: said.args } }],
          };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: `r${n}`,
        object: "chat.completion",
        created: 1,
        model: body.model,
        choices: [{ index: 0, message, finish_reason: typeof said === "string" ? "stop" : "tool_calls" }],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      }),
    );
  };
  const server = createServer((request: IncomingMessage, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => answer(JSON.parse(text) as Asked, response));
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const make = createOpenAICompatible({
    name: "here",
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: "none",
  });
  return { asked, times, model: make("tiny") };
}
