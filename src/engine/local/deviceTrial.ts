/** Run as a process of its own: exit code 0 if the device named computes, else the reason on standard output. */
import { messageOf } from "../../core/errors.ts";
import { compile } from "../../tensor/compile.ts";
import { createSession, type Device } from "../../tensor/execute.ts";
import { input } from "../../tensor/graph.ts";
import { matmul } from "../../tensor/ops/matmul.ts";

try {
  const side = 64;
  const a = input("a", [side, side]);
  const program = compile([a], { product: matmul(a, a) });
  const session = await createSession(program, { device: process.argv[2] as Device });
  const { product } = await session.run({ a: new Float32Array(side * side).fill(1) });
  if (product?.[0] !== side) throw new Error(`a product of ${product?.[0]} where ${side} is right`);
} catch (e) {
  // what it says begins with the place in ONNX Runtime's own source
  const lines = messageOf(e).trim().split("\n");
  process.stdout.write(`${lines[0]!.replace(/^\/\S+ .*? was false\. /, "")}\n`);
  process.exitCode = 1;
}
