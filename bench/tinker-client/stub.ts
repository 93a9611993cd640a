/** A server of the Tinker API that answers every call after the same time, and computes nothing. A process of its own. */
import { createServer } from "node:http";
import { readPass, writeOutput, writeSamples } from "../../src/engine/tinker/protobuf.ts";
import { protobufType, sampleRequest } from "../../src/engine/tinker/protocol.ts";
import { floatTensor } from "../../src/engine/tinker/tensors.ts";

/** Log-probability of every token. */
export const logp = -1.5;

/** What all tokens of the i-th sample are. */
export const tokenOf = (i: number): number => 70 + (i % 8);

/** How many calls it answered, and the mean of the milliseconds for which it held them. */
export interface Held {
  readonly calls: number;
  readonly ms: number;
}

/** @param latency milliseconds between the last byte of a call and the first of its answer. */
function serve(latency: number): void {
  const results = new Map<string, Uint8Array | object>();
  let [calls, held, taken] = [0, 0, 0];
  const later = (result: Uint8Array | object): object => {
    const request_id = `r${taken++}`;
    results.set(request_id, result);
    return { request_id };
  };
  const passed = (body: Buffer): object => {
    const outputs = readPass(body).data.map((d) => ({
      logprobs: floatTensor(new Float32Array(d.loss_fn_inputs.target_tokens!.data.length).fill(logp)),
    }));
    return later(writeOutput({ loss_fn_output_type: "scalar", loss_fn_outputs: outputs, metrics: {} }));
  };
  const sampled = (body: Buffer): object => {
    const asked = sampleRequest.parse(JSON.parse(body.toString()));
    const length = asked.sampling_params.max_tokens ?? 1;
    const read = asked.prompt.chunks.reduce(
      (n, c) => n + (c.type === "encoded_text" ? c.tokens.length : 0),
      0,
    );
    const sequence = (i: number) => ({
      stop_reason: "length" as const,
      tokens: new Int32Array(length).fill(tokenOf(i)),
      logprobs: new Float32Array(length).fill(logp),
    });
    return later(
      writeSamples({
        sequences: Array.from({ length: asked.num_samples }, (_, i) => sequence(i)),
        ...(asked.prompt_logprobs && { prompt_logprobs: new Float32Array(read).fill(logp) }),
      }),
    );
  };
  const retrieved = (body: Buffer): object | Uint8Array => {
    const { request_id } = JSON.parse(body.toString());
    const found = results.get(request_id) ?? {};
    results.delete(request_id);
    return found;
  };
  const answers: Readonly<Record<string, (body: Buffer) => object | Uint8Array>> = {
    create_session: () => ({ session_id: "s" }),
    get_server_capabilities: () => ({ supported_models: [{ model_name: "stub" }] }),
    create_model: () => later({ model_id: "m" }),
    save_weights_for_sampler: () => later({ sampling_session_id: "p" }),
    save_weights: () => later({ path: "tinker://m/weights/kept" }),
    optim_step: () => later({ metrics: { grad_norm: 1 } }),
    forward_backward: passed,
    asample: sampled,
    retrieve_future: retrieved,
    held: () => ({ calls, ms: held / calls }) satisfies Held,
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const began = performance.now();
      const given = answers[request.url!.slice("/api/v1/".length)]?.(Buffer.concat(parts)) ?? {};
      const binary = given instanceof Uint8Array;
      response.setHeader("Content-Type", binary ? protobufType : "application/json");
      const body = binary ? given : JSON.stringify(given);
      // what making it took is part of the latency
      const left = latency - (performance.now() - began);
      setTimeout(() => {
        calls++;
        response.end(body);
        held += performance.now() - began;
      }, left);
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const at = server.address();
    process.stdout.write(`${typeof at === "object" && at ? at.port : ""}\n`);
  });
}

if (import.meta.main) serve(Number(process.argv[2]));
