/** A server of the Tinker API that takes its time and computes nothing: samples side by side, training one thing at a time. */
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { randomStream } from "../../src/core/random.ts";
import { readPass, writeOutput, writeSamples } from "../../src/engine/tinker/protobuf.ts";
import { protobufType, sampleRequest } from "../../src/engine/tinker/protocol.ts";
import { floatTensor } from "../../src/engine/tinker/tensors.ts";

/** How long things take, in milliseconds. */
export interface Latencies {
  /** Median of a sample; the others lie around it log-normally, with this deviation of the logarithm. */
  readonly sample: number;
  readonly spread: number;
  /** A forward pass over a batch; with a backward pass three times as long. */
  readonly pass: number;
  readonly step: number;
}

const logp = -1.5;

/** @returns its address, and how to end it. */
export async function serveStub(latencies: Latencies): Promise<{ url: string; close: () => void }> {
  const results = new Map<string, Promise<object | Uint8Array>>();
  let training: Promise<unknown> = Promise.resolve();
  let [made, sessions] = [0, 0];
  const later = (result: Promise<object | Uint8Array>): object => {
    const request_id = `r${made++}`;
    results.set(request_id, result);
    return { request_id };
  };
  const inTurn = (ms: number, result: object | Uint8Array): object => {
    const done = training.then(() => wait(ms, result));
    training = done;
    return later(done);
  };
  const sampled = (body: Buffer): object => {
    const { prompt, sampling_params, prompt_logprobs } = sampleRequest.parse(JSON.parse(body.toString()));
    const length = prompt_logprobs ? 1 : (sampling_params.max_tokens ?? 1);
    const read = prompt.chunks.reduce((n, c) => n + (c.type === "encoded_text" ? c.tokens.length : 0), 0);
    const ms = prompt_logprobs
      ? latencies.step
      : latencies.sample * Math.exp(latencies.spread * randomStream(sampling_params.seed ?? 0).normal());
    const sequence = {
      stop_reason: "length" as const,
      tokens: new Int32Array(length).fill(70),
      logprobs: new Float32Array(length).fill(logp),
    };
    const about = prompt_logprobs ? { prompt_logprobs: new Float32Array(read).fill(logp) } : {};
    return later(wait(ms, writeSamples({ sequences: [sequence], ...about })));
  };
  const passed = (body: Buffer): object => {
    const { data, forward_only } = readPass(body);
    const outputs = data.map((d) => ({
      logprobs: floatTensor(new Float32Array(d.loss_fn_inputs.target_tokens!.data.length).fill(logp)),
    }));
    const output = { loss_fn_output_type: "scalar", loss_fn_outputs: outputs, metrics: { "loss:sum": 0 } };
    // the proof of a sampler is one short row
    const ms = data.length === 1 ? latencies.step : (forward_only ? 1 : 3) * latencies.pass;
    return inTurn(ms, writeOutput(output));
  };
  const answers: Readonly<Record<string, (body: Buffer) => object | Promise<object | Uint8Array>>> = {
    create_session: () => ({ session_id: "s" }),
    get_server_capabilities: () => ({ supported_models: [{ model_name: "stub" }] }),
    create_model: () => inTurn(0, { model_id: "m" }),
    save_weights_for_sampler: () => inTurn(latencies.step, { sampling_session_id: `s${sessions++}` }),
    save_weights: () => inTurn(latencies.step, { path: "tinker://m/weights/kept" }),
    optim_step: () => inTurn(latencies.step, { metrics: { grad_norm: 1 } }),
    forward_backward: passed,
    asample: sampled,
    retrieve_future: (body) => results.get(JSON.parse(body.toString()).request_id) ?? {},
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", async () => {
      const given = await (answers[request.url!.slice("/api/v1/".length)]?.(Buffer.concat(parts)) ?? {});
      const binary = given instanceof Uint8Array;
      response.setHeader("Content-Type", binary ? protobufType : "application/json");
      response.end(binary ? given : JSON.stringify(given));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const at = server.address();
  if (typeof at !== "object" || at === null) throw new Error("the stub has no port");
  return { url: `http://127.0.0.1:${at.port}`, close: () => server.close() };
}
