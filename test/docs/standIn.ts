/** A provider in place of those that the pages name: it takes the calls of OpenAI and of Anthropic. */
import { scripted, type Upstream } from "../serve/gateway/world.ts";

export type Answer = (body: Readonly<Record<string, unknown>>) => string;

/** @param answer the text of a reply. */
export const provider = (answer: Answer = () => "Open Settings, then Security."): Promise<Upstream> =>
  scripted((body, response, request) => {
    const text = answer(body);
    const { model = "gpt-5-mini" } = body;
    const isMessage = request.url?.startsWith("/v1/messages");
    const usage = isMessage
      ? { input_tokens: 12, output_tokens: 6 }
      : { prompt_tokens: 12, completion_tokens: 6, total_tokens: 18 };
    const whole = isMessage
      ? {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model,
          content: [{ type: "text", text }],
          stop_reason: "end_turn",
          usage,
        }
      : {
          id: "chatcmpl-1",
          object: "chat.completion",
          created: 1,
          model,
          choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
          usage,
        };
    response.setHeader("content-type", "application/json").end(JSON.stringify(whole));
  });
