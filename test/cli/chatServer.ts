/** A chat model behind an API of its own, as tests need one: what it is asked decides what it says. */
import { createServer } from "node:http";
import { after } from "node:test";

/** @returns the address, up to `/v1`; the server ends with the test file. */
export async function chatServer(answer: (body: unknown) => string): Promise<string> {
  const server = createServer(async (request, response) => {
    const message = { role: "assistant", content: answer(JSON.parse(await new Response(request).text())) };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const reply = { id: "r", object: "chat.completion", created: 1, model: "tiny", choices, usage };
    response.setHeader("content-type", "application/json").end(JSON.stringify(reply));
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return `http://127.0.0.1:${port}/v1`;
}
