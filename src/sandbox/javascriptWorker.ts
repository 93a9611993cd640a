/** The worker thread of untrusted JavaScript. Started by javascript.ts. */
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  Scope,
} from "quickjs-emscripten-core";
import { messageOf } from "../core/errors.ts";
import type { JavaScriptLimits, JavaScriptProgram, JavaScriptReply } from "./javascript.ts";
import { runInWorld } from "./javascriptWorld.ts";
import { longestMessage } from "./outcome.ts";

/** The part that is used here, since the compiler's list of globals lacks it. */
declare const WebAssembly: {
  readonly Memory: new (pages: {
    readonly initial: number;
    readonly maximum: number;
  }) => { readonly buffer: ArrayBuffer };
};

// required, since its types describe the CommonJS build
const variant: QuickJSSyncVariant = createRequire(import.meta.url)(
  "@jitl/quickjs-wasmfile-release-sync",
).default;

const limits: JavaScriptLimits = workerData;
/** WebAssembly page size in bytes, and QuickJS's initial number of pages. */
const pageBytes = 2 ** 16;
const ownPages = 256;
const pages = ownPages + Math.ceil(limits.memory / pageBytes);
// QuickJS's own limit counts blocks, not their sizes, so the limit of the WebAssembly memory is the effective one
const wasmMemory = new WebAssembly.Memory({ initial: ownPages, maximum: pages });
/** Share of the program memory that was ever allocated; WebAssembly memory never shrinks. */
const taken = (): number => (wasmMemory.buffer.byteLength / pageBytes - ownPages) / (pages - ownPages);
const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory }));

function answer(program: JavaScriptProgram): JavaScriptReply {
  const scope = new Scope();
  try {
    const outcome = runInWorld(quickjs, scope, program, limits, () => taken() > 0.8);
    return { outcome, spoiled: !disposed(scope) || taken() > 0.8 };
  } catch (e) {
    const message = messageOf(e).slice(0, longestMessage);
    return { outcome: { kind: "crashed", message, values: [], printed: "" }, spoiled: true };
  }
}

/** False where QuickJS failed to clean up; its memory must not be reused then. */
function disposed(scope: Scope): boolean {
  try {
    scope.dispose();
    return true;
  } catch {
    return false;
  }
}

parentPort?.on("message", (program: JavaScriptProgram) => parentPort?.postMessage(answer(program)));
parentPort?.postMessage("ready");
