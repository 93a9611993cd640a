// What the tinker engine costs its own process: whole iterations against a stub that answers every call after 50 ms.
//
//     node bench/tinker-client.ts [--latency 50] [--iterations 10] [--samples 32] [--tokens 64] [--together]
//
// The stub is a process of its own. Counted is the processor time of the client, over the time of an iteration: sampling
// (with a new sampler and its proof), a forward pass, a backward pass and a step. Writes bench/results/tinker-client.md.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Batch } from "../src/core/batch.ts";
import type { Objective } from "../src/core/model.ts";
import { concatIds, pack } from "../src/core/pack.ts";
import { chatCodec } from "../src/engine/local/codec.ts";
import { byteTokenizer } from "../src/engine/local/tokenizer.ts";
import { tinkerEngine } from "../src/engine/tinker/index.ts";
import { readPass, writeOutput, writeSamples } from "../src/engine/tinker/protobuf.ts";
import { floatTensor, protobufType, sampleRequest } from "../src/engine/tinker/protocol.ts";
import { median } from "./measure.ts";

const { values } = parseArgs({
  options: {
    stub: { type: "boolean", default: false },
    latency: { type: "string", default: "50" },
    iterations: { type: "string", default: "10" },
    samples: { type: "string", default: "32" },
    tokens: { type: "string", default: "64" },
    together: { type: "boolean", default: false },
    out: { type: "string", default: join(import.meta.dirname, "results", "tinker-client.md") },
  },
});
const [latency, iterations] = [Number(values.latency), Number(values.iterations)];
const [samples, tokens] = [Number(values.samples), Number(values.tokens)];
const logp = -1.5;
/** Answers that an iteration has to wait for: a sampler, samples and a forward pass take two each, a step behind its backward pass three. */
const rounds = 9;

/** Answers with numbers of the right shapes, and computes nothing. */
function serveStub(): void {
  const results = new Map<string, Uint8Array | object>();
  const answer = (path: string, body: Buffer): object | Uint8Array => {
    const json = path === "forward_backward" ? {} : JSON.parse(body.toString() || "{}");
    const later = (result: Uint8Array | object) => {
      const request_id = `r${results.size}`;
      results.set(request_id, result);
      return { request_id };
    };
    switch (path) {
      case "create_session":
        return { session_id: "s" };
      case "get_server_capabilities":
        return { supported_models: [{ model_name: "stub" }] };
      case "create_model":
        return later({ model_id: "m" });
      case "save_weights_for_sampler":
        return later({ sampling_session_id: "p" });
      case "optim_step":
        return later({ metrics: { grad_norm: 1 } });
      case "forward_backward": {
        const outputs = readPass(body).data.map((d) => ({
          logprobs: floatTensor(new Float32Array(d.loss_fn_inputs.target_tokens!.data.length).fill(logp)),
        }));
        return later(writeOutput({ loss_fn_output_type: "scalar", loss_fn_outputs: outputs, metrics: {} }));
      }
      case "asample": {
        const { prompt, num_samples, sampling_params, prompt_logprobs } = sampleRequest.parse(json);
        const length = sampling_params.max_tokens ?? 1;
        const read = prompt.chunks.reduce((n, c) => n + (c.type === "encoded_text" ? c.tokens.length : 0), 0);
        const sequence = {
          stop_reason: "length" as const,
          tokens: new Int32Array(length).fill(70),
          logprobs: new Float32Array(length).fill(logp),
        };
        return later(
          writeSamples({
            sequences: Array.from({ length: num_samples }, () => sequence),
            ...(prompt_logprobs && { prompt_logprobs: new Float32Array(read).fill(logp) }),
          }),
        );
      }
      case "retrieve_future": {
        const found = results.get(json.request_id) ?? {};
        results.set(json.request_id, {}); // the memory of a result, not of its name
        return found;
      }
      default:
        return {};
    }
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () =>
      setTimeout(() => {
        const given = answer(request.url!.slice("/api/v1/".length), Buffer.concat(parts));
        const binary = given instanceof Uint8Array;
        response.setHeader("Content-Type", binary ? protobufType : "application/json");
        response.end(binary ? given : JSON.stringify(given));
      }, latency),
    );
  });
  server.listen(0, "127.0.0.1", () => {
    const at = server.address();
    process.stdout.write(`${typeof at === "object" && at ? at.port : ""}\n`);
  });
}

const objective: Objective<null> = {
  name: "bench",
  together: "batch",
  wants: () => ({}),
  prepare: async () => null,
  evaluate: ({ logp: x }) => ({ loss: 0, cotangents: { logp: x }, stats: {} }),
};

async function measure(): Promise<void> {
  const args = ["--stub", "--latency", values.latency];
  const stub = spawn(process.execPath, [import.meta.filename, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<string>((resolve) =>
    stub.stdout.once("data", (line: Buffer) => resolve(line.toString().trim())),
  );
  const codec = chatCodec(byteTokenizer());
  const engine = tinkerEngine({ url: `http://127.0.0.1:${port}`, baseModel: "stub", codec, probe: false });
  const model = await engine.create({ id: "policy", seed: 1, lexicon: [], contextTokens: 4096 });
  const prompt = codec.open([{ role: "user", content: "Which of these is the largest? ".repeat(8) }]);

  const shares: number[] = [];
  const walls: number[] = [];
  const busy: number[] = [];
  for (let i = -2; i < iterations; i++) {
    const [began, used, loop] = [performance.now(), process.cpuUsage(), performance.eventLoopUtilization()];
    const asked = Array.from({ length: samples }, (_, seed) => ({ prompt, maxTokens: tokens, seed }));
    // as episodes do, each for itself; or as those who want several at once
    const replies = values.together
      ? await model.sample(asked)
      : (await Promise.all(asked.map((one) => model.sample([one])))).flat();
    await model.accumulate(
      batchOf(
        prompt,
        replies.map(({ action }) => action),
      ),
      objective,
      null,
    );
    await model.step({ learningRate: 1e-4 });
    const wall = performance.now() - began;
    const { user, system } = process.cpuUsage(used);
    if (i < 0) continue; // warming up
    shares.push((user + system) / 1000 / wall);
    busy.push(performance.eventLoopUtilization(loop).active);
    walls.push(wall);
  }
  await engine.dispose();
  stub.kill();
  const text = [
    "# What the tinker engine costs its own process",
    "",
    `${samples} samples of ${tokens} tokens after ${prompt.length}, asked for ${values.together ? "together" : "one by one"}, forward, backward and step; every call answered after ${latency} ms by a stub that computes nothing. ${iterations} iterations after 2. ${cpus()[0]?.model}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}.`,
    "",
    "| | median |",
    "|---|---|",
    `| iteration | ${median(walls).toFixed(0)} ms |`,
    `| of that, at least ${rounds} answers after one another | ${rounds * latency} ms |`,
    `| client at work (its event loop) | ${median(busy).toFixed(1)} ms, ${(100 * median(busy.map((ms, i) => ms / walls[i]!))).toFixed(1)} % |`,
    `| processor time of the client | ${median(walls.map((wall, i) => wall * shares[i]!)).toFixed(1)} ms |`,
    `| share | ${(100 * median(shares)).toFixed(1)} % |`,
    `| share of an iteration of 10 s, as with a server that computes | ${(median(walls.map((wall, i) => wall * shares[i]!)) / 100).toFixed(2)} % |`,
    "",
  ].join("\n");
  writeFileSync(values.out, text);
  process.stdout.write(text);
}

function batchOf(prompt: Int32Array, actions: readonly Int32Array[]): Batch {
  const rows = actions.map((action, r) => ({
    info: {
      trajectory: `t${r}`,
      task: "task",
      role: "agent",
      model: "policy",
      version: "",
      origin: "sampled" as const,
      context: "sampled" as const,
      unit: `u${r}`,
      group: "g",
      from: 0,
    },
    tokens: concatIds([prompt, action]),
    targets: Int32Array.from(action, (_, i) => prompt.length + i),
    turn: new Int32Array(action.length),
    logp: new Float32Array(action.length),
    behaviour: new Float32Array(action.length),
    advantage: new Float32Array(action.length),
    weight: new Float32Array(action.length),
  }));
  return pack(
    rows,
    rows.map(({ info }) => ({ id: info.unit, group: info.group, members: [info.trajectory] })),
  );
}

if (values.stub) serveStub();
else await measure();
