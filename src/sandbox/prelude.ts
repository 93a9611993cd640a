/**
 * JavaScript that runs in a context before the program: an expression for a function of (print, seed) that returns the
 * function that formats values. It captures the built-ins that it needs before a program can replace them.
 */
export const prelude = `(function (print, seed) {
  "use strict";
  const { stringify } = JSON;
  const { isArray } = Array;
  const { keys } = Object;
  const text = String;
  const { imul } = Math;
  const sort = Function.prototype.call.bind(Array.prototype.sort);
  function show(x, depth) {
    if (typeof x === "string") return stringify(x);
    if (typeof x === "bigint") return text(x) + "n";
    if (typeof x === "function") return "[function]";
    if (typeof x === "symbol") return "[symbol]";
    if (typeof x !== "object" || x === null) return text(x);
    if (depth > 20) return "[deep]";
    let out = "";
    if (isArray(x)) {
      for (let i = 0; i < x.length; i++) out += (i ? ", " : "") + show(x[i], depth + 1);
      return "[" + out + "]";
    }
    const names = sort(keys(x));
    for (let i = 0; i < names.length; i++) out += (i ? ", " : "") + stringify(names[i]) + ": " + show(x[names[i]], depth + 1);
    return "{" + out + "}";
  }
  function log() {
    let line = "";
    for (let i = 0; i < arguments.length; i++) {
      const x = arguments[i];
      line += (i ? " " : "") + (typeof x === "string" ? x : show(x, 0));
    }
    print(line);
  }
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };
  // mulberry32, by Tommy Ettinger
  Math.random = function random() {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = imul(seed ^ (seed >>> 15), seed | 1);
    t ^= t + imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return function (x) { return show(x, 0); };
})`;

/**
 * An expression for a function of `show` that returns the function that formats thrown values. It is compiled only after an
 * error: a program that corrupts its context can only corrupt its own error message.
 */
export const teller = `(function (show) {
  "use strict";
  return function (thrown) {
    if (typeof thrown !== "object" || thrown === null || !("message" in thrown)) return "uncaught " + show(thrown);
    const line = /program\\.js:(\\d+)/.exec(String(thrown.stack));
    return String(thrown.name) + ": " + String(thrown.message) + (line ? " (line " + line[1] + ")" : "");
  };
})`;
