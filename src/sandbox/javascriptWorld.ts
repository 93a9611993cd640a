/** One fresh QuickJS context per program, with limits. */
import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
  Scope,
} from "quickjs-emscripten-core";
import type { JavaScriptLimits, JavaScriptOutcome, JavaScriptProgram } from "./javascript.ts";
import { longestMessage, type Stopped } from "./outcome.ts";
import { prelude, teller } from "./prelude.ts";

/** Number of loop iterations and calls after which QuickJS polls the interrupt handler. */
const stepsPerPoll = 10_000;
/** All intrinsics except `Date`, which is a clock. */
const intrinsics = {
  BaseObjects: true,
  Eval: true,
  StringNormalize: true,
  RegExp: true,
  RegExpCompiler: true,
  JSON: true,
  Proxy: true,
  MapSet: true,
  TypedArrays: true,
  Promise: true,
  BigInt: true,
} as const;

/**
 * Runs a program's scripts one after another.
 * @param scope collects handles to dispose of afterwards. @param full whether memory is nearly used up.
 * @throws any error where the program crashes QuickJS itself; the module must not be used again then.
 */
export function runInWorld(
  quickjs: QuickJSWASMModule,
  scope: Scope,
  { scripts, seed = 1 }: JavaScriptProgram,
  limits: JavaScriptLimits,
  full: () => boolean,
): JavaScriptOutcome {
  const runtime = scope.manage(quickjs.newRuntime());
  const context = scope.manage(runtime.newContext({ intrinsics }));
  const values: string[] = [];
  const printed: string[] = [];
  let [polls, printedCharacters, valueCharacters] = [0, 0, 0];
  let flooded = false;

  const ended = (why: { readonly kind: "ok" } | Stopped): JavaScriptOutcome => ({
    ...why,
    values,
    printed: printed.join("\n"),
  });
  /** The exceeded limit, if any. */
  const passed = (): Stopped | undefined =>
    flooded
      ? { kind: "output", limit: "characters", at: limits.output }
      : polls > limits.steps / stepsPerPoll
        ? { kind: "timeout", limit: "steps", at: limits.steps }
        : undefined;

  runtime.setMaxStackSize(limits.stack);
  runtime.setInterruptHandler(() => {
    polls++;
    return passed() !== undefined;
  });
  const print = scope.manage(
    context.newFunction("print", (line) => {
      printedCharacters += lengthOf(context, line) + 1;
      flooded ||= printedCharacters > limits.output;
      // a program that catches this error is terminated at the next poll
      if (flooded) throw new Error("too much output");
      printed.push(context.getString(line));
    }),
  );
  const show = furnish(context, scope, print, seed);

  /** Why a program stopped: a limit, or a thrown error. */
  function stopped(thrown: QuickJSHandle): Stopped {
    const limit = passed();
    if (limit) return limit;
    const told = tell(context, scope, show, thrown);
    const handle = scope.manage(told.error ?? told.value);
    const message = told.error ? "" : cut(context, handle);
    // QuickJS throws null where it could not allocate an error
    if (
      message.startsWith("InternalError: out of memory") ||
      (full() && /^(uncaught null)?$/.test(message))
    ) {
      return { kind: "memory", bytes: limits.memory };
    }
    return told.error
      ? (passed() ?? { kind: "error", message: "Error: what was thrown cannot be told" })
      : { kind: "error", message };
  }

  /** Undefined where the script succeeded. */
  function runOne(script: string): Stopped | undefined {
    const made = context.evalCode(script, "program.js");
    const value = scope.manage(made.error ?? made.value);
    if (made.error) return stopped(value);
    const broken = runJobs(runtime, () => passed() !== undefined);
    if (broken) return stopped(scope.manage(broken));
    const limit = passed();
    if (limit) return limit;
    const state = context.getPromiseState(value);
    if (state.type === "pending") return { kind: "error", message: "Error: a promise was never settled" };
    if (state.type === "rejected") return stopped(scope.manage(state.error));
    const shown = context.callFunction(show, context.undefined, scope.manage(state.value));
    const text = scope.manage(shown.error ?? shown.value);
    if (shown.error) return stopped(text);
    valueCharacters += lengthOf(context, text);
    if (valueCharacters > limits.output) return { kind: "output", limit: "characters", at: limits.output };
    values.push(context.getString(text));
    return undefined;
  }

  for (const script of scripts) {
    const why = runOne(script) ?? passed();
    if (why) return ended(why);
  }
  return ended({ kind: "ok" });
}

/** Installs the prelude in a fresh context and returns the function that formats values. */
function furnish(context: QuickJSContext, scope: Scope, print: QuickJSHandle, seed: number): QuickJSHandle {
  const make = scope.manage(context.unwrapResult(context.evalCode(prelude, "prelude.js")));
  const start = scope.manage(context.newNumber(seed));
  return scope.manage(context.unwrapResult(context.callFunction(make, context.undefined, print, start)));
}

/** Formats a thrown value. An error where that throws as well, or memory is used up. */
function tell(context: QuickJSContext, scope: Scope, show: QuickJSHandle, thrown: QuickJSHandle) {
  const made = context.evalCode(teller, "prelude.js");
  if (made.error) return made;
  const tellOf = context.callFunction(scope.manage(made.value), context.undefined, show);
  return tellOf.error ? tellOf : context.callFunction(scope.manage(tellOf.value), context.undefined, thrown);
}

/** Runs pending promise jobs until none is left or `enough` is true. Returns the error of a failed job. */
function runJobs(runtime: QuickJSRuntime, enough: () => boolean): QuickJSHandle | undefined {
  while (runtime.hasPendingJob() && !enough()) {
    const done = runtime.executePendingJobs(1000);
    if (done.error) return done.error;
  }
  return undefined;
}

function lengthOf(context: QuickJSContext, text: QuickJSHandle): number {
  return context.getProp(text, "length").consume((length) => context.getNumber(length));
}

function cut(context: QuickJSContext, text: QuickJSHandle): string {
  const all = lengthOf(context, text) > 2 ** 20 ? "Error: a very long message" : context.getString(text);
  return all.slice(0, longestMessage);
}
