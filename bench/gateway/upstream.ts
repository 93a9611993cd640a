// An upstream that answers at once, in a process of its own: prints its URL, ends with its input.
import { createServer } from "node:http";
import { compileInBackground } from "../../src/cli/threadPriority.ts";

if (process.platform === "linux") compileInBackground();

const said =
  "It is a small bird that can fly backwards, and its heart beats a thousand times a minute. ".repeat(3);
const whole = JSON.stringify({
  id: "chatcmpl-0123456789abcdef0123456789abcdef",
  object: "chat.completion",
  created: 1,
  model: "bench",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: said, refusal: null },
      finish_reason: "stop",
      logprobs: null,
    },
  ],
  usage: { prompt_tokens: 200, completion_tokens: 60, total_tokens: 260 },
});
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    id: "chatcmpl-0123456789abcdef0123456789abcdef",
    object: "chat.completion.chunk",
    created: 1,
    model: "bench",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const words = said.match(/\S+\s*/g) ?? [];
const events = [
  chunk({ role: "assistant", content: "" }),
  ...words.map((content) => chunk({ content })),
  chunk({}, "stop"),
  "data: [DONE]\n\n",
];

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (piece: Buffer) => chunks.push(piece));
  request.on("end", () => {
    if (Buffer.concat(chunks).includes('"stream":true')) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      // as many writes as a model makes: a token each
      for (const event of events) response.write(event);
      response.end();
    } else {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(whole),
      });
      response.end(whole);
    }
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
});
process.stdin.on("end", () => process.exit(0)).resume();
