// Feedback on a response or a message by the id that the client read in its body, through the whole server and its store.
import assert from "node:assert/strict";
import { test } from "node:test";
import { upstream } from "../../../src/serve/gateway/upstream.ts";
import { wholeServer } from "../wholeServer.ts";
import { scripted } from "./world.ts";

const ids = { "/v1/responses": "resp_0123456789abcdef0123", "/v1/messages": "msg_0123456789abcdef0123" };
const typed = { "content-type": "application/json" };

test("feedback names a response or a message by the id in its body", async () => {
  const behind = await scripted((_, response, request) => {
    const text = "Hello";
    const answer =
      request.url === "/v1/messages"
        ? {
            id: ids["/v1/messages"],
            type: "message",
            content: [{ type: "text", text }],
            stop_reason: "end_turn",
          }
        : {
            id: ids["/v1/responses"],
            status: "completed",
            output: [{ type: "message", content: [{ type: "output_text", text }] }],
          };
    response.writeHead(200, typed).end(JSON.stringify(answer));
  });
  const { server, production, close } = await wholeServer(upstream({ url: behind.url }));
  try {
    for (const [path, known] of Object.entries(ids)) {
      const send = (to: string, body: object): Promise<Response> =>
        fetch(`${server.url}${to}`, { method: "POST", headers: typed, body: JSON.stringify(body) });
      const asked = { model: "m", input: "x", messages: [{ role: "user", content: path }] };
      const { id } = (await (await send(path, asked)).json()) as { readonly id: string };
      assert.equal(id, known);
      const given = await send("/v1/feedback", { kind: "reaction", response: id, reaction: "thumbs_up" });
      assert.equal(given.status, 201);
      const record = await fetch(`${server.url}/v1/responses/${id}`);
      assert.equal(record.status, 200);
      const stored = await production.response(id);
      assert.equal(stored?.choices[0]?.message.content, "Hello");
      const signals = [];
      for await (const session of production.completeSessions({ session: stored!.session })) {
        signals.push(...session.signals);
      }
      assert.deepEqual(
        signals.map(({ about, text }) => [about[0]?.response, text]),
        [[id, "thumbs_up"]],
      );
    }
  } finally {
    await close();
    await behind.close();
  }
});
