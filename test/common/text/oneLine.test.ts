import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonLine, oneLine, printable } from "../../../src/common/text/oneLine.ts";

test("a text of unknown origin stays one line, and steers no terminal", () => {
  assert.equal(
    oneLine("split s: 1 % (because\nPOST /v1/keys: fine)"),
    "split s: 1 % (because\\u000aPOST /v1/keys: fine)",
  );
  assert.equal(oneLine("\u001b[2J\u202egnp\u2028\u009b"), "\\u001b[2J\\u202egnp\\u2028\\u009b");
  assert.equal(oneLine("Zürich 🙂, plainly"), "Zürich 🙂, plainly");
});

test("a text of several lines keeps them and its tabs, and steers no terminal", () => {
  assert.equal(printable("a\n\tb\r\n\u001b[2J\u009b\u202e"), "a\n\tb\\u000d\n\\u001b[2J\\u009b\\u202e");
  assert.equal(printable("Zürich 🙂"), "Zürich 🙂");
});

test("a line of JSON is one for every reader, and the same value", () => {
  const value = { a: "x\u2028y\u2029\u0085\u009b1m\u202e\u{e0041}\ud800\\\u2028", b: 1 };
  const line = jsonLine(value);
  assert.match(line, /^[ -~]+$/);
  assert.deepEqual(JSON.parse(line), value);
});
