/** Connections that are kept, on a server of this process. */
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import { after, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { type Http, type HttpOptions, keptConnections } from "../../../src/engine/tinker/http.ts";
import { readPass, writeOutput } from "../../../src/engine/tinker/protobuf.ts";
import { protobufType, textInput } from "../../../src/engine/tinker/protocol.ts";
import { openSession } from "../../../src/engine/tinker/session.ts";
import { floatTensor, idTensor } from "../../../src/engine/tinker/tensors.ts";
import { openTrainer } from "../../../src/engine/tinker/trainer.ts";
import { transport } from "../../../src/engine/tinker/transport.ts";
import { bound } from "../../../src/http/bound.ts";

type Heard = { readonly path: string; readonly headers: Record<string, unknown>; readonly body: Buffer };

async function listening(answer: (heard: Heard, response: ServerResponse) => void) {
  let connections = 0;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    answer({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(parts) }, response);
  });
  server.on("connection", () => connections++);
  const url = await bound(server, "127.0.0.1", 0);
  after(() => server.closeAllConnections());
  after(() => server.close());
  return { url, connections: () => connections };
}
const to = (url: string, more: Partial<HttpOptions> = {}): Http =>
  keptConnections({ base: `${url}/`, silenceMs: 5000, ...more });
const post = (http: Http, body: string) =>
  http.call({ path: "call", method: "POST", headers: { "X-Own": "1" }, body });

test("calls that follow one another take turns on two connections at most, and bring bodies and types there and back", async () => {
  const { url, connections } = await listening(({ headers, body }, response) => {
    response.setHeader("Content-Type", "text/plain; charset=utf-8");
    response.end(`${headers["x-own"]} ${body.toString()}`);
  });
  const http = to(url);
  for (const word of ["one", "zwölf", "drei", "quatre", "cinque"]) {
    const { status, type, bytes } = await post(http, word);
    assert.deepEqual(
      [status, type, Buffer.from(bytes).toString()],
      [200, "text/plain; charset=utf-8", `1 ${word}`],
    );
  }
  // an answer is at hand a moment before its connection is free
  assert.ok(connections() <= 2, `${connections()} connections`);
  http.close();
});

test("however many calls wait for their answers, another one goes out at once", async () => {
  const waiting: ServerResponse[] = [];
  const { url } = await listening(({ body }, response) => {
    if (body.toString() === "beat") response.end("heard");
    else waiting.push(response);
  });
  const http = to(url);
  const long = Array.from({ length: 300 }, () => post(http, "wait"));
  const { bytes } = await post(http, "beat");
  assert.equal(Buffer.from(bytes).toString(), "heard");
  while (waiting.length < long.length) await new Promise((go) => setTimeout(go, 5));
  for (const one of waiting) one.end();
  await Promise.all(long);
  http.close();
});

test("an answer that is cut, and a server that is not there, reject", async () => {
  const { url } = await listening((_, response) => {
    response.writeHead(200, { "Content-Length": 100 });
    response.write("half", () => response.socket?.destroy());
  });
  const [cut, absent] = [to(url), to("http://127.0.0.1:1")];
  await assert.rejects(post(cut, ""), { code: "UND_ERR_SOCKET" });
  await assert.rejects(post(absent, ""), { code: "ECONNREFUSED" });
  cut.close();
  absent.close();
});

test("a server that keeps silent, before its answer or within it, rejects when it has done so for long", async () => {
  const { url } = await listening(({ body }, response) => {
    if (body.toString() === "begin") response.write("half");
  });
  const http = to(url, { silenceMs: 200 });
  await assert.rejects(post(http, ""), { code: "UND_ERR_HEADERS_TIMEOUT" });
  await assert.rejects(post(http, "begin"), { code: "UND_ERR_BODY_TIMEOUT" });
  http.close();
});

test("a stop ends the calls that are under way, and later ones", async () => {
  const stop = new AbortController();
  const { url } = await listening(() => stop.abort());
  const http = to(url, { stop: stop.signal });
  await assert.rejects(post(http, ""), { code: "UND_ERR_DESTROYED" });
  await assert.rejects(post(http, ""), { code: "UND_ERR_DESTROYED" });
  http.close();
});

test("bodies of passes are packed with zstd where the server asks for it", async () => {
  const results: (object | Uint8Array)[] = [];
  const heard: Heard[] = [];
  const { url } = await listening((call, response) => {
    const later = (result: object | Uint8Array) => ({ request_id: `${results.push(result) - 1}` });
    const answers: Readonly<Record<string, () => object | Uint8Array>> = {
      "/api/v1/client/config": () => ({ proto_compress_fwdbwd: true }),
      "/api/v1/create_session": () => ({ session_id: "s" }),
      "/api/v1/get_server_capabilities": () => ({ supported_models: [] }),
      "/api/v1/create_model": () => later({ model_id: "m" }),
      "/api/v1/forward_backward": () => {
        heard.push(call);
        const logprobs = floatTensor(new Float32Array(500).fill(-1));
        return later(
          writeOutput({ loss_fn_output_type: "scalar", loss_fn_outputs: [{ logprobs }], metrics: {} }),
        );
      },
      "/api/v1/retrieve_future": () => results[JSON.parse(call.body.toString()).request_id] ?? {},
    };
    const given = answers[call.path]?.() ?? {};
    const binary = given instanceof Uint8Array;
    response.setHeader("Content-Type", binary ? protobufType : "application/json");
    response.end(binary ? given : JSON.stringify(given));
  });
  const session = await openSession(transport({ url }), "tiny");
  const trainer = await openTrainer(session, { baseModel: "tiny", rank: 4, seed: 1 });
  const target_tokens = idTensor(new Int32Array(500).fill(7));
  await trainer.pass(
    [{ model_input: textInput(new Int32Array(500)), loss_fn_inputs: { target_tokens } }],
    "cross_entropy",
    true,
  );
  session.close();
  const [pass] = heard;
  assert.equal(pass?.headers["content-encoding"], "zstd");
  const whole = zstdDecompressSync(pass.body);
  assert.ok(pass.body.length * 10 < whole.length, `${pass.body.length} of ${whole.length} bytes`);
  assert.deepEqual(readPass(whole).data[0]?.loss_fn_inputs.target_tokens, target_tokens);
});
