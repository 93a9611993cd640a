/** Runs as a separate process. Exit code 0: the given device works; else the reason is on standard output. */
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
  if (product?.[0] !== side) throw new Error(`a product of ${product?.[0]} instead of ${side}`);
} catch (e) {
  // the message begins with a location in ONNX Runtime's own source
  const lines = messageOf(e).trim().split("\n");
  process.stdout.write(`${lines[0]!.replace(/^\/\S+ .*? was false\. /, "")}\n`);
  process.exitCode = 1;
}
