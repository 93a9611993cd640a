import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type JavaScriptOutcome, javaScriptSandbox } from "../../src/sandbox/javascript.ts";
import { inWords } from "../../src/sandbox/outcome.ts";

const sandbox = javaScriptSandbox({ threads: 1, limits: { steps: 300_000, seconds: 1.5, memory: 2 ** 22 } });
after(() => sandbox.close());
const run = (...scripts: readonly string[]): Promise<JavaScriptOutcome> => sandbox.run({ scripts });

type Kind = JavaScriptOutcome["kind"];

/** What each tries, and the ways in which it may end: never on its own terms. */
const hostile: Readonly<Record<string, readonly [program: string, ...ends: Kind[]]>> = {
  "an infinite loop": ["for (;;);", "timeout"],
  "a loop that catches its interruption": [
    "for (;;) try { for (;;); } catch {} finally { for (;;); }",
    "timeout",
  ],
  "a loop in a generator": ["function* g() { for (;;) yield 1 } for (const x of g());", "timeout"],
  "a getter that loops": ["({ get x() { for (;;); } }).x", "timeout"],
  "a proxy that loops": ["new Proxy({}, { get() { for (;;); } }).x", "timeout"],
  "a value whose getter loops when shown": ["({ get x() { for (;;); } })", "timeout"],
  "a proxy with endless keys when shown": [
    "new Proxy([], { get: (t, k) => (k === 'length' ? 1e9 : 0) })",
    "timeout",
    "memory",
    "output",
  ],
  "an error whose message loops": ["throw { get message() { for (;;); } }", "timeout"],
  "a toString that loops": ["throw { message: { toString() { for (;;); } } }", "timeout"],
  "a valueOf that loops": ["1 + { valueOf() { for (;;); } }", "timeout"],
  "an iterator without end": [
    "[...{ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) }]",
    "timeout",
    "memory",
  ],
  "a comparison that loops": ["[2, 1].sort(() => { for (;;); })", "timeout"],
  "a regular expression that backtracks": ["/^(a+)+$/.test('a'.repeat(40) + 'b')", "timeout"],
  "a regular expression that recurses": ["/(?:a|b)*c/.test('ab'.repeat(1e6))", "memory", "error", "timeout"],
  "a search of 2^53 places within one step": [
    "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "timeout",
  ],
  "a join of 2^32 places": ["Array(2 ** 32 - 1).join('x')", "timeout", "memory", "error"],
  "a memory bomb of arrays": ["const a = []; for (;;) a.push(new Array(1000).fill(1))", "memory"],
  "a memory bomb of closures": [
    "let f = () => 0; for (;;) { const g = f; f = () => g; }",
    "memory",
    "timeout",
  ],
  "a string that doubles": ["let s = 'a'; for (;;) s += s", "memory", "error"],
  "a string of 10^9 characters": ["'x'.repeat(1e9)", "memory", "error"],
  "a typed array of 10^9 bytes": ["new Uint8Array(1e9)", "memory", "error"],
  "many typed arrays": ["const a = []; for (;;) a.push(new Float64Array(1e5))", "memory"],
  "an array of 2^31 places filled": ["new Array(2 ** 31).fill(0)", "memory", "timeout"],
  "a big number that grows": ["let b = 3n; for (;;) b *= b", "error", "memory", "timeout"],
  "a big number at once": ["2n ** (2n ** 40n)", "error", "memory"],
  "a map without end": ["const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])", "memory", "timeout"],
  "deep recursion": ["(function f() { f() })()", "error"],
  "deep recursion through a getter": ["({ get x() { return this.x } }).x", "error"],
  "deep recursion of a reader": ["JSON.parse('['.repeat(1e6))", "error", "crashed"],
  "deep recursion of a compiler": ["eval('('.repeat(1e5))", "error", "crashed"],
  "deep recursion of a writer": [
    "let a = {}; for (let i = 0; i < 5e4; i++) a = { a }; JSON.stringify(a)",
    "error",
    "memory",
    "crashed",
    "timeout",
  ],
  "deep recursion of a generator": ["function* g() { yield* g() } [...g()]", "error"],
  "ten thousand captures": ["new RegExp('('.repeat(1e5))", "error"],
  "a flood of promises": ["for (;;) Promise.resolve().then(() => {})", "memory", "timeout"],
  "promises that make promises": ["const f = () => Promise.resolve().then(f); f()", "timeout", "memory"],
  "an async loop": ["(async () => { for (;;) await null })()", "timeout", "memory"],
  "a promise that is never settled": ["new Promise(() => {})", "error"],
  "a flood of output": ["for (;;) console.log('x'.repeat(100))", "output"],
  "a flood of output that catches": ["for (;;) try { console.log('x'.repeat(1000)) } catch {}", "output"],
  "one huge line": ["console.log('x'.repeat(1e6))", "output"],
  "a huge value": ["'x'.repeat(1e6)", "output"],
  "a huge error": ["throw new Error('x'.repeat(1e6))", "error"],
  "the constructor of a constructor": ["console.log.constructor('return process')().exit()", "error"],
  "the constructor of what comes from outside": ["this.constructor.constructor('return process')()", "error"],
  "a caller's frame": ["(function f() { return f.caller.arguments })()", "error"],
  "a file by require": ["require('fs').readFileSync('/etc/passwd')", "error"],
  "a file by import": ["import('node:fs').then((fs) => fs.readFileSync('/etc/passwd'))", "error"],
  "a file by an import statement": ["import fs from 'fs'; fs", "error"],
  "a file by std": ["std.open('/etc/passwd', 'r')", "error"],
  "a process": ["process.binding('spawn_sync')", "error"],
  "a signal": ["process.kill(process.ppid)", "error"],
  "the network": ["fetch('http://localhost')", "error"],
  "a socket": ["new WebSocket('ws://localhost')", "error"],
  "a thread": ["new Worker('x')", "error"],
  "the clock": ["Date.now()", "error"],
  "a finer clock": ["performance.now()", "error"],
  "a clock in a constructor": ["new Date()", "error"],
  "a timer": ["setTimeout(() => {}, 1e9)", "error"],
  WebAssembly: ["new WebAssembly.Memory({ initial: 1e5 })", "error"],
  "sleeping on shared memory": [
    "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    "error",
    "timeout",
  ],
};

for (const [what, [program, ...ends]] of Object.entries(hostile)) {
  test(`javaScriptSandbox contains ${what}, and the next program runs`, async () => {
    const outcome = await run(program);
    assert.ok(ends.includes(outcome.kind), JSON.stringify(outcome).slice(0, 300));
    assert.ok(outcome.kind !== "ok" && inWords(outcome).length <= 600);
    assert.deepEqual(await run("1 + 1"), { kind: "ok", values: ["2"], printed: "" });
  });
}

test("javaScriptSandbox: there are at least 40 hostile programs", () => {
  assert.ok(Object.keys(hostile).length >= 40);
});

test("javaScriptSandbox: nothing of a program is there for the next one", async () => {
  const spoil = [
    "Object.prototype.polluted = 1; Array.prototype.map = () => 'mine'; globalThis.left = 1;",
    "JSON.stringify = () => 'mine'; Object.keys = () => ['mine']; Math.random = () => 0;",
    "Object.defineProperty(Array.prototype, 0, { get: () => 'mine' }); Array.prototype.sort = () => [];",
    "Object.freeze(Object.prototype); RegExp.prototype.exec = () => ({ 1: 'mine' });",
  ];
  for (const program of spoil) assert.equal((await run(program)).kind, "ok", program);
  const { values } = await run(
    "[{}.polluted, [1].map((x) => x + 1), typeof left, Math.random() > 0, { b: 1, a: [2] }]",
  );
  assert.deepEqual(values, ['[undefined, [2], "undefined", true, {"a": [2], "b": 1}]']);
});

test("javaScriptSandbox: a program that tampers cannot forge how its values are shown", async () => {
  const { values } = await run(
    "JSON.stringify = () => '42'; String = () => '42'; Object.keys = () => []; Array.isArray = () => false;",
    "['a', { b: 1 }]",
  );
  assert.equal(values[1], '["a", {"b": 1}]');
});

test("javaScriptSandbox: values of all kinds, in the order of the scripts, and what was printed", async () => {
  assert.deepEqual(
    await run(
      "console.log('sum', [1, 'a']); const f = (x) => x * 2;",
      "[f(2), NaN, -0, 2n, null, undefined, 'it\\'s', Infinity]",
      "({ b: 1, a: { 'x y': true }, f })",
      "console.log({}); Promise.resolve(f(4))",
    ),
    {
      kind: "ok",
      values: [
        "undefined",
        '[4, NaN, 0, 2n, null, undefined, "it\'s", Infinity]',
        '{"a": {"x y": true}, "b": 1, "f": [function]}',
        "8",
      ],
      printed: 'sum [1, "a"]\n{}',
    },
  );
});

test("javaScriptSandbox: the runtime's own words, with the line, and what came before", async () => {
  const outcome = await run("const xs = [1];\nconst f = () => missing + 1;", "xs[0]", "f()", "'never'");
  assert.equal(outcome.kind, "error");
  assert.deepEqual(outcome.values, ["undefined", "1"]);
  assert.equal(
    outcome.kind === "error" && outcome.message,
    "ReferenceError: 'missing' is not defined (line 2)",
  );
  const parsed = await run("const = 1");
  assert.match(parsed.kind === "error" ? parsed.message : "", /^SyntaxError: .* \(line 1\)$/);
  const thrown = await run("throw { a: 1 }");
  assert.equal(thrown.kind === "error" && thrown.message, 'uncaught {"a": 1}');
});

test("javaScriptSandbox: chance is seeded", async () => {
  const draw = async (seed: number): Promise<JavaScriptOutcome> =>
    sandbox.run({ scripts: ["[Math.random(), Math.random()]"], seed });
  assert.deepEqual(await draw(7), await draw(7));
  assert.notDeepEqual(await draw(7), await draw(8));
});

test("javaScriptSandbox: many at once all come to their end, on several threads", async () => {
  const two = javaScriptSandbox({ threads: 2 });
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, i) => two.run({ scripts: [`${i} * 2`] })),
  );
  assert.deepEqual(
    outcomes.map(({ values }) => values[0]),
    Array.from({ length: 50 }, (_, i) => String(2 * i)),
  );
  two.close();
  assert.equal((await two.run({ scripts: ["1"] })).kind, "ok", "one that was closed starts again when asked");
  two.close();
});

test("javaScriptSandbox: closing ends what is under way", async () => {
  const one = javaScriptSandbox({ threads: 1, limits: { steps: Number.POSITIVE_INFINITY, seconds: 60 } });
  await one.run({ scripts: ["1"] });
  const endless = [one.run({ scripts: ["for (;;);"] }), one.run({ scripts: ["for (;;);"] })];
  one.close();
  for (const { kind } of await Promise.all(endless)) assert.equal(kind, "crashed");
});
