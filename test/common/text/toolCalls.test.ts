import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { keyOf, readCalls, writeCall, writeMessage, writeTools } from "../../../src/common/text/toolCalls.ts";
import type { Message, Tool } from "../../../src/core/types.ts";

const look: Tool = {
  name: "look",
  description: "looks at a thing",
  parameters: {
    type: "object",
    properties: { item: { type: "string" }, times: { type: "integer" }, where: { type: ["string", "null"] } },
  },
};
const wait: Tool = { name: "wait", description: "", parameters: { type: "object", properties: {} } };
const tools = [look, wait];
const hermes = (json: string): string => `<tool_call>\n${json}\n</tool_call>`;

test("readCalls reads each published form", () => {
  const call = { name: "look", arguments: '{"item":"red door","times":2}' };
  const json = '{"name": "look", "arguments": {"item": "red door", "times": 2}}';
  const coder =
    "<function=look>\n<parameter=item>\nred door\n</parameter>\n<parameter=times>2</parameter>\n</function>";
  const forms = [
    hermes(json),
    coder,
    hermes(coder),
    json,
    json.replace("arguments", "parameters"),
    hermes(
      json.replace('{"item": "red door", "times": 2}', '"{\\"item\\": \\"red door\\", \\"times\\": 2}"'),
    ),
  ];
  for (const form of forms) assert.deepEqual(readCalls(form, tools), { content: "", calls: [call] }, form);
});

test("readCalls keeps the text around calls, and their order", () => {
  const said = `I look. ${writeCall("look", { item: "a" })} and ${hermes('{"name": "wait"}')} `;
  assert.deepEqual(readCalls(said, tools), {
    content: "I look.  and",
    calls: [
      { name: "look", arguments: '{"item":"a"}' },
      { name: "wait", arguments: "{}" },
    ],
  });
});

test("readCalls hands a reply with anything malformed back as content, whole", () => {
  const good = writeCall("wait", {});
  const malformed = [
    "",
    "just text",
    "<tool_call>",
    "</tool_call>",
    hermes("{"),
    hermes('{"name": "look", "arguments": [1]}'),
    hermes('{"name": 3}'),
    hermes('{"name": "steal", "arguments": {}}'),
    writeCall("steal", {}),
    "<function=look> item </function>",
    "<function=look> <parameter=item> a </function>",
    "<function=look> <parameter=item> a </parameter> <parameter=item> b </parameter> </function>",
    "<function=look> <parameter=item> a </parameter>",
    `${good} <function=look>`,
    `${good} ${hermes("no")}`,
    '{"name": "steal", "parameters": {}}',
    '{"item": "a"}',
  ];
  for (const text of malformed) assert.deepEqual(readCalls(text, tools), { content: text, calls: [] }, text);
  assert.deepEqual(readCalls(good, []), { content: good, calls: [] }, "nothing is offered");
});

test("readCalls never throws, and takes its time in proportion", () => {
  const piece = fc.constantFrom(
    "<tool_call>",
    "</tool_call>",
    "<function=look>",
    "</function>",
    "<parameter=item>",
    "</parameter>",
    "{",
    "}",
    '"name"',
    ":",
    "a",
    " ",
    "__proto__",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("");
      const { content, calls } = readCalls(text, tools);
      if (calls.length === 0) assert.equal(content, text);
      for (const call of calls) assert.ok(JSON.parse(call.arguments) instanceof Object);
    }),
    { seed: 1, numRuns: 500 },
  );
  const began = performance.now();
  readCalls("<parameter=item>".repeat(2000), tools);
  readCalls(`<function=look>${"<parameter=item>".repeat(2000)}</function>`, tools);
  assert.ok(performance.now() - began < 1000);
});

test("writeCall and readCalls undo each other, whatever the values", () => {
  const free: Tool = {
    ...look,
    parameters: { properties: { a: { type: "string" }, b: { type: "object" } } },
  };
  const text = fc.string().map((s) => s.replaceAll(/[<>]/g, "").trim());
  fc.assert(
    fc.property(text, fc.jsonValue(), (a, value) => {
      const b = JSON.stringify(value).includes("<") ? null : value;
      const given = JSON.parse(JSON.stringify({ a, b: typeof b === "string" ? { b } : b }));
      const { calls } = readCalls(writeCall("look", given), [free]);
      assert.deepEqual(
        calls.map((c) => JSON.parse(c.arguments)),
        [given],
      );
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("writeMessage puts content, calls and tools into one text of words", () => {
  assert.equal(writeMessage({ role: "user", content: " as  it is " }), " as  it is ");
  assert.equal(
    writeTools(tools),
    "<tools> <function=look> <parameter=item> </parameter> <parameter=times> </parameter> <parameter=where> </parameter> </function> <function=wait> </function> </tools>",
  );
  assert.equal(
    writeMessage({ role: "system", content: "help", tools: [wait] }),
    "help <tools> <function=wait> </function> </tools>",
  );
  const toolCalls = [
    { id: "1", name: "look", arguments: '{"item":"a","times":2}' },
    { id: "2", name: "look", arguments: "broken" },
  ];
  assert.equal(
    writeMessage({ role: "assistant", content: "", toolCalls }),
    "<function=look> <parameter=item> a </parameter> <parameter=times> 2 </parameter> </function> <function=look> broken </function>",
  );
});

test("marks without an end are read once, however many there are", () => {
  const tools = [{ name: "f", description: "", parameters: {} }];
  for (const mark of ["<tool_call>", "<function=f>", "<function=f><parameter=a>", "<parameter=a>"]) {
    const text = `${mark.repeat(100_000)}</function>`;
    const began = process.cpuUsage();
    readCalls(text, tools);
    const { user, system } = process.cpuUsage(began);
    assert.ok((user + system) / 1000 < 2000, `${mark}: ${(user + system) / 1000} ms`);
  }
  // an end belongs to the first beginning before it; what has none stays
  assert.deepEqual(readCalls('<tool_call>{"name":"f","arguments":{}}</tool_call>', tools).calls, [
    { name: "f", arguments: "{}" },
  ]);
});

const calling = (...given: string[]): Message => ({
  role: "assistant",
  content: "",
  toolCalls: given.map((text) => ({ id: "1", name: "f", arguments: text })),
});

test("keys of messages: calls by what they say, however deep", () => {
  assert.equal(keyOf(calling('{"a": 1}')), keyOf(calling('{"a":1}')));
  assert.equal(keyOf(calling('{"a": 1}')), '["assistant","",null,[["f",{"a":1}]],[]]');
  const deep = "[".repeat(30_000) + "]".repeat(30_000);
  assert.equal(keyOf(calling(deep)), JSON.stringify(["assistant", "", null, [["f", deep]], []]));
});

test("of one message no more arguments are parsed than take a moment", () => {
  const spaced = `{ ${Array.from({ length: 5000 }, (_, i) => `"k${i}": {}`).join(", ")} }`;
  const compact = JSON.stringify(JSON.parse(spaced));
  const times = (count: number, given: string): string =>
    keyOf(calling(...new Array<string>(count).fill(given)));
  assert.equal(times(3, spaced), times(3, compact));
  assert.notEqual(times(5, spaced), times(5, compact));
});
