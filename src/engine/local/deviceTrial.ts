/** Runs as a separate process. Exit code 0: the given device works, and what it is stands on standard output; else the reason does. */
import { gibibytes } from "../../common/text/gibibytes.ts";
import { messageOf } from "../../core/errors.ts";
import { input } from "../../tensor/graph.ts";
import { matmul } from "../../tensor/ops/matmul.ts";
import type { Device } from "./devices.ts";

const side = 64;
const a = input("a", [side, side]);
const outputs = { product: matmul(a, a) };
const feeds = { a: new Float32Array(side * side).fill(1) };

function requireRight(got: number | undefined): void {
  if (got !== side) throw new Error(`a product of ${got} instead of ${side}`);
}

async function tryRuntime(device: "cpu" | "cuda"): Promise<void> {
  const { compile } = await import("../../tensor/compile.ts");
  const { createSession } = await import("../../tensor/execute.ts");
  const session = await createSession(compile([a], outputs), { device });
  requireRight((await session.run(feeds)).product?.[0]);
}

/** Side of the products that are timed. */
const timed = 2048;

/** @returns the adapter's name, its features and the rate of its products. */
async function tryGpu(): Promise<string> {
  const { openGpu } = await import("../../tensor/wgsl/device.ts");
  const { arena, fromGpu, gpuProgram, toGpu } = await import("../../tensor/wgsl/program.ts");
  const gpu = await openGpu({ software: process.env.WHETSTONE_SOFTWARE_GPU === "1" });
  const shared = { arena: arena(gpu) };
  const small = await gpuProgram(gpu, [a], outputs, shared);
  requireRight((await fromGpu(gpu, small.run(feeds).product!))[0]);
  const { name, software, largest } = gpu.adapter;
  const facts = [name, `${gpu.cores ? "tensor cores, --precision f16" : "no tensor cores"}`];
  facts.push(`tensors up to ${gibibytes(largest)}`);
  if (software) return [...facts, "a software adapter"].join(", ");
  for (const precision of gpu.cores ? (["f32", "f16"] as const) : (["f32"] as const)) {
    const x = input("x", [timed, timed]);
    const large = await gpuProgram(gpu, [x], { y: matmul(x, x) }, { ...shared, precision });
    const data = toGpu(gpu, new Float32Array(timed * timed).fill(0.5));
    const run = async (times: number): Promise<number> => {
      const start = performance.now();
      for (let i = 1; i < times; i++) large.run({ x: data });
      await gpu.read(large.run({ x: data }).y!.buffer, 4);
      return performance.now() - start;
    };
    await run(2);
    const times = 20;
    const ms = (await run(times)) / times;
    facts.push(`${((2 * timed ** 3) / ms / 1e9).toFixed(1)} TFLOP/s in ${precision}`);
  }
  return facts.join(", ");
}

try {
  const device = process.argv[2] as Device;
  if (device === "gpu") process.stdout.write(`${await tryGpu()}\n`);
  else await tryRuntime(device);
} catch (e) {
  // ONNX Runtime's message begins with a location in its own source; of ours the finding is enough
  const [line] = messageOf(e).trim().split("\n");
  const reason = line!.replace(/^\/\S+ .*? was false\. /, "").replace(/^gpu: got (.*?), expected .*/, "$1");
  process.stdout.write(`${reason}\n`);
  process.exitCode = 1;
}
process.exit();
