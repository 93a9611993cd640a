import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText, wrapLanguageModel } from "ai";
import { feedbackMiddleware } from "../../src/client/feedbackMiddleware.ts";

const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: "own", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const message = { role: "assistant", content: "hi" };
const whole = {
  id: "own",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message, finish_reason: "stop" }],
};

/** A model behind a server that answers like the gateway. */
function model(headers: Record<string, string>, asked: Headers[], session = "s 1") {
  const provider = createOpenAICompatible({
    name: "gateway",
    baseURL: "http://gateway/v1",
    fetch: async (_, init) => {
      asked.push(new Headers(init?.headers));
      const streamed = String(init?.body).includes('"stream":true');
      return streamed
        ? new Response(`${chunk({ content: "hi" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`, {
            headers: { "content-type": "text/event-stream", ...headers },
          })
        : Response.json(whole, { headers });
    },
  });
  const middleware = feedbackMiddleware({ session, user: "u1", channels: ["reaction", "comment"] });
  return wrapLanguageModel({ model: provider("m"), middleware });
}

test("calls say whose they are, and results what feedback is given by", async () => {
  const asked: Headers[] = [];
  const headers = { "x-whetstone-response": "r7", "x-whetstone-session": "s%201" };
  const { providerMetadata } = await generateText({ model: model(headers, asked), prompt: "hello" });
  assert.deepEqual(providerMetadata?.whetstone, { response: "r7", session: "s 1" });
  assert.deepEqual(
    ["session", "user", "channels"].map((name) => asked[0]?.get(`x-whetstone-${name}`)),
    ["s 1", "u1", "reaction,comment"],
  );
});

test("a stream tells at its end; without the gateway's header, the provider's own id counts", async () => {
  const asked: Headers[] = [];
  for (const [headers, id] of [
    [{ "x-whetstone-response": "r8" }, "r8"],
    [{}, "own"],
  ] as const) {
    const streaming = streamText({ model: model(headers, asked), prompt: "hello" });
    assert.equal(await streaming.text, "hi");
    assert.deepEqual((await streaming.providerMetadata)?.whetstone, { response: id });
  }
});

test("no name of a session makes a call fail", async () => {
  for (const [session, header] of [
    ["50% off", "50%25%20off"],
    ["日本", "%E6%97%A5%E6%9C%AC"],
  ] as const) {
    const asked: Headers[] = [];
    const there = model({ "x-whetstone-session": header }, asked, session);
    const { providerMetadata } = await generateText({ model: there, prompt: "hello" });
    assert.equal(asked[0]?.get("x-whetstone-session"), header);
    assert.deepEqual(providerMetadata?.whetstone, { response: "own", session });
    const broken = model({ "x-whetstone-session": "50% off" }, asked, session);
    assert.equal((await generateText({ model: broken, prompt: "hello" })).text, "hi");
  }
});
