/** Connections that are kept, on a server of this process. */
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import { after, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { type Http, keptConnections } from "../../../src/engine/tinker/http.ts";
import { readPass, writeOutput } from "../../../src/engine/tinker/protobuf.ts";
import { floatTensor, idTensor, protobufType, textInput } from "../../../src/engine/tinker/protocol.ts";
import { openSession } from "../../../src/engine/tinker/session.ts";
import { openTrainer } from "../../../src/engine/tinker/trainer.ts";
import { transport } from "../../../src/engine/tinker/transport.ts";
import { bound } from "../../../src/serve/bound.ts";

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
const post = (http: Http, url: string, body: string) =>
  http.call({ url, method: "POST", headers: { "X-Own": "1" }, body, signal: AbortSignal.timeout(5000) });

test("calls that follow one another share a connection, and bring bodies and types there and back", async () => {
  const { url, connections } = await listening(({ headers, body }, response) => {
    response.setHeader("Content-Type", "text/plain; charset=utf-8");
    response.end(`${headers["x-own"]} ${body.toString()}`);
  });
  const http = keptConnections();
  for (const word of ["one", "zwölf"]) {
    const { status, type, bytes } = await post(http, url, word);
    assert.deepEqual(
      [status, type, Buffer.from(bytes).toString()],
      [200, "text/plain; charset=utf-8", `1 ${word}`],
    );
  }
  assert.equal(connections(), 1);
  http.close();
});

test("an answer that is cut, and a server that is not there, reject", async () => {
  const { url } = await listening((_, response) => {
    response.writeHead(200, { "Content-Length": 100 });
    response.write("half", () => response.socket?.destroy());
  });
  const http = keptConnections();
  await assert.rejects(post(http, url, ""), { code: "ECONNRESET" });
  await assert.rejects(post(http, "http://127.0.0.1:1", ""), { code: "ECONNREFUSED" });
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
