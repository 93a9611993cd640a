/** What providers write: responses of OpenAI and messages of Anthropic, whole and as events. */
import type { ServerResponse } from "node:http";
import type { scripted } from "./world.ts";

export type Body = Record<string, unknown>;
export type Events = readonly Body[];

/** Upstreams write ids of about this length. */
export const idOf = (kind: string, n: number): string => `${kind}_${String(n).padStart(24, "0")}`;
export const typed = { "content-type": "application/json" };
export const jsonHead = { "content-type": "application/json", "request-id": "req_1" };
/** As both providers write events. */
export const wire = (events: Events): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

export function reply(
  response: ServerResponse,
  whole: Body,
  events: Events | undefined,
  cut: number | undefined,
): void {
  if (!events) {
    response.writeHead(200, jsonHead).end(JSON.stringify(whole, null, 1));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(wire(events.slice(0, cut)));
  if (cut === undefined) response.end();
  else setTimeout(() => response.destroy(), 20);
}

/** A response with one text or, where a tool is offered and no result given, a call of it. */
export function responseTo(body: Body, n: number): { readonly whole: Body; readonly events: Events } {
  const isCall = Array.isArray(body.tools) && !JSON.stringify(body.input).includes("function_call_output");
  const id = idOf("resp", n);
  const reasoning = { id: idOf("rs", n), type: "reasoning", summary: [] };
  const call = {
    id: idOf("fc", n),
    type: "function_call",
    call_id: "call_1",
    name: "look",
    arguments: '{"word":"cat"}',
  };
  const text = { type: "output_text", text: `Grüße ${n}`, annotations: [] };
  const said = {
    id: idOf("msg", n),
    type: "message",
    role: "assistant",
    status: "completed",
    content: [text],
  };
  const output = [reasoning, isCall ? call : said];
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
  const begun = { id, object: "response", created_at: 1, status: "in_progress", model: "m", output: [] };
  const whole = { ...begun, status: "completed", output, usage, error: null, incomplete_details: null };
  const one = { output_index: 1, item_id: output[1]!.id };
  const pieces = isCall
    ? [
        { type: "response.output_item.added", output_index: 1, item: { ...call, arguments: "" } },
        { type: "response.function_call_arguments.delta", ...one, delta: '{"word"' },
        { type: "response.function_call_arguments.delta", ...one, delta: ':"cat"}' },
        { type: "response.function_call_arguments.done", ...one, arguments: call.arguments },
      ]
    : [
        { type: "response.output_item.added", output_index: 1, item: { ...said, content: [] } },
        { type: "response.content_part.added", ...one, content_index: 0, part: { ...text, text: "" } },
        { type: "response.output_text.delta", ...one, content_index: 0, delta: "Grüße" },
        { type: "response.output_text.delta", ...one, content_index: 0, delta: ` ${n}` },
        { type: "response.output_text.done", ...one, content_index: 0, text: text.text },
      ];
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    { type: "response.output_item.added", output_index: 0, item: reasoning },
    { type: "response.output_item.done", output_index: 0, item: reasoning },
    ...pieces,
    { type: "response.output_item.done", output_index: 1, item: output[1] },
    { type: "response.completed", response: whole },
  ].map((event, at) => ({ ...event, sequence_number: at }));
  return { whole, events };
}

export function messageTo(body: Body, n: number): { readonly whole: Body; readonly events: Events } {
  const isCall = Array.isArray(body.tools) && !JSON.stringify(body.messages).includes("tool_result");
  const call = { type: "tool_use", id: "toolu_1", name: "look", input: { word: "cat" } };
  const text = { type: "text", text: `Grüße ${n}` };
  const begun = { id: idOf("msg", n), type: "message", role: "assistant", model: "m", content: [] };
  const content = isCall ? [text, call] : [text];
  const read = { input_tokens: 3, cache_read_input_tokens: 8, cache_creation_input_tokens: 0 };
  const stop = { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null };
  const whole = { ...begun, content, ...stop, usage: { ...read, output_tokens: 7 } };
  const json = (partial_json: string): Body => ({
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json },
  });
  const events = [
    {
      type: "message_start",
      message: { ...begun, ...{ stop_reason: null }, usage: { ...read, output_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "ping" },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: ` ${n}` } },
    { type: "content_block_stop", index: 0 },
    ...(isCall
      ? [
          { type: "content_block_start", index: 1, content_block: { ...call, input: {} } },
          json(""),
          json('{"word": '),
          json('"cat"}'),
          { type: "content_block_stop", index: 1 },
        ]
      : []),
    { type: "message_delta", delta: stop, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  return { whole, events };
}

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

/** A chat completion: a call of the tool that is offered, else a greeting. */
function completionTo(body: Body, n: number): { readonly whole: Body; readonly chunks: readonly Body[] } {
  const isCall = Array.isArray(body.tools) && !JSON.stringify(body.messages).includes('"tool"');
  const calls = [{ id: "call_1", type: "function", function: { name: "look", arguments: '{"word":"cat"}' } }];
  const said = isCall ? { content: null, tool_calls: calls } : { content: `Grüße ${n}` };
  const finish_reason = isCall ? "tool_calls" : "stop";
  const head = { id: `chatcmpl-${n}`, created: 1, model: "m" };
  const message = { role: "assistant", ...said };
  const delta = isCall ? { ...message, tool_calls: [{ index: 0, ...calls[0] }] } : message;
  return {
    whole: { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage },
    chunks: [
      { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null }] },
      { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason }] },
    ],
  };
}

/** A server that answers every call of the clients as its provider does, and hears the queries of their addresses. */
export function providers(queries: string[] = []): Parameters<typeof scripted>[0] {
  let answers = 0;
  return (body, response, request) => {
    const { pathname, search } = new URL(request.url!, "http://upstream");
    queries.push(search);
    const n = ++answers;
    switch (pathname) {
      case "/v1/models":
        return response
          .writeHead(200, jsonHead)
          .end('{"object":"list","data":[{"id":"m","object":"model"}]}');
      case "/v1/embeddings":
        return response
          .writeHead(200, jsonHead)
          .end(
            '{"data":[{"index":0,"embedding":[0.5,-1]}],"model":"m","usage":{"prompt_tokens":2,"total_tokens":2}}',
          );
      case "/v1/messages/count_tokens":
        return response.writeHead(200, jsonHead).end('{"input_tokens":4}');
      case "/v1/completions":
        return response.writeHead(200, jsonHead).end(
          JSON.stringify({
            id: `cmpl-${n}`,
            choices: [{ index: 0, text: `Grüße ${n}`, finish_reason: "stop" }],
            usage,
          }),
        );
      case "/v1/chat/completions": {
        const { whole, chunks } = completionTo(body, n);
        if (body.stream !== true) return response.writeHead(200, jsonHead).end(JSON.stringify(whole));
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
        return response.end("data: [DONE]\n\n");
      }
      default: {
        const { whole, events } = (pathname === "/v1/responses" ? responseTo : messageTo)(body, n);
        return reply(response, whole, body.stream === true ? events : undefined, undefined);
      }
    }
  };
}
