/** ONNX Runtime may be missing: npm skips an optional package whose install script fails. */
import { messageOf, WhetstoneError } from "../../core/errors.ts";

const codes = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_DLOPEN_FAILED"];

/** How to install it. On Linux its install script downloads CUDA libraries from another server; the CPU does not need them. */
export const bringRuntime =
  "Run ONNXRUNTIME_NODE_INSTALL=skip npm install: its install script downloads CUDA libraries from another server, which the CPU does not need; on Linux it needs glibc 2.28 or newer (not Alpine).";

/** Why ONNX Runtime cannot be loaded; undefined where it can. */
export async function runtimeFault(): Promise<string | undefined> {
  try {
    await import("onnxruntime-node");
    return undefined;
  } catch (e) {
    return messageOf(e).split("\n")[0]!;
  }
}

/** The user-facing error if a thread could not load ONNX Runtime; undefined for other errors. */
export function runtimeMissing(e: Error): WhetstoneError | undefined {
  const known = "code" in e && codes.includes(String(e.code)) && /onnxruntime/.test(e.message);
  if (!known) return undefined;
  return new WhetstoneError("package.missing", {
    where: "local engine",
    got: messageOf(e).split("\n")[0]!,
    expected: "ONNX Runtime, the package onnxruntime-node",
    fix: bringRuntime,
    cause: e,
  });
}
