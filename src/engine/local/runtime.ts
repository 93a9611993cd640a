/** ONNX Runtime may be missing: npm leaves an optional package out whose install script fails. */
import { messageOf, WhetstoneError } from "../../core/errors.ts";

const codes = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_DLOPEN_FAILED"];

/** How to bring it in. On Linux its script asks for CUDA libraries, which the CPU needs none of, from a server of their own. */
export const bringRuntime =
  "Run ONNXRUNTIME_NODE_INSTALL=skip npm install: its install script asks another server for CUDA libraries, which the CPU needs none of; on Linux it needs glibc 2.28 or newer (not Alpine).";

/** The error for people where a thread could not load it; nothing for other errors. */
export function runtimeMissing(e: Error): WhetstoneError | undefined {
  const known = "code" in e && codes.includes(String(e.code)) && /onnxruntime/.test(e.message);
  if (!known) return undefined;
  return new WhetstoneError("package.missing", {
    where: "local engine",
    got: messageOf(e).split("\n")[0]!,
    expected: "ONNX Runtime, the package onnxruntime-node",
    mend: bringRuntime,
    cause: e,
  });
}
